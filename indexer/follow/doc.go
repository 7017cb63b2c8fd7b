// Package follow lets an Indexer fill a second cluster, and keep it in step, from the feed of
// changes of a journal, which itself sends to the first.
//
// [Journal] is what the Indexer takes for its journal. It reads the feed of each kind into a
// window in memory, which the Indexer claims from and settles. What is settled is told by a
// cursor, the checkpoint, which is kept in the index that it is about: lost and restored with
// it. Whoever goes on from a checkpoint sends at worst what is there already, which external
// versions refuse. So it may end at any moment.
//
// A document that the second cluster refuses is no dead letter of the journal: it stays in the
// window, without its body, and the checkpoint in front of it. So the next start tries it again,
// and a newer version of it at once.
package follow

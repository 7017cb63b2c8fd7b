// Package follow lets an Indexer fill a second cluster and keep it up to date, from the feed of
// changes of a journal whose own indexer fills the first.
//
// [Journal] is the journal of that Indexer. It reads the feed of each kind into a window in
// memory, from which the Indexer claims and settles. A cursor, the checkpoint, says how far
// everything is settled. It is kept in the index that it is about, so it is lost and restored
// with it. A process that continues from a checkpoint at worst sends documents again, which
// external versions make harmless. So it may end at any moment.
//
// A document that the second cluster refuses is no dead letter of the journal. It stays in the
// window without its body, and the checkpoint stays before it, so the next start tries it again.
// A newer version of it is sent at once.
package follow

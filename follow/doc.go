// Package follow makes the feed of changes of another riskdex the publisher of this one.
//
//	follow.go  reads the feed, and appends what it tells to the journal
//	state.go   how far it is, as a note in the journal keeps it, and who may go on from there
//
// A Follower appends each page of the feed as one delivery, in the order of the source. Each change
// brings its identity, so the journal names documents as the source does, also once it takes
// deliveries itself: no path, and no code, decides which document a change is for. A record that the
// source has lost becomes a refusal. A note in the
// journal has the cursor after the last page. The delivery of a page has a receipt with the cursor
// after it, so a page that is read twice, after a crash or by two processes, is accepted once.
//
// Of several processes of a journal, the one that was started last decides whether it follows. The
// others stop and say so, and so does one that is to follow another journal.
//
// # Beginning anew
//
// Where nobody can go on from the cursor, the Follower reads the feed from its beginning, then
// compares what both have, and deletes what the source does not have. Searches find everything
// meanwhile. That removes what the source no longer has, so it must be certain that this is what the
// publisher has no longer:
//
//   - A journal of another line is never followed in place of the one before.
//   - A source whose feed is another one may have been set back. It is followed once it has the
//     newest change that it had told, or a later one of that document. Until then nothing is
//     replaced or removed: this journal may have the only copy.
//   - While more than half of a kind would be deleted, and they are not few, nothing is, of any kind.
//   - Nothing is deleted that the source lists, or that has changed here since it was compared, or
//     after the feed no longer goes on from where it was read.
package follow

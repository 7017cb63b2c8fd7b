// Package indexer takes pending changes from the journal and sees to it that
// Elasticsearch shows them, whatever fails in between.
//
// One dispatcher (Run) owns a lane per kind and gives tasks to a pool of
// workers; the probe has a lane and a worker of its own. In a task a worker claims
// changes of one kind, sends them as one bulk and settles each of them by the
// answer to it:
//
//	dispatch.go  which lane gets a task, and when
//	lane.go      what is known of one kind's index: healthy, in trouble, paused
//	check.go     is the index there, and what have earlier runs left to do?
//	task.go      claim, send (send.go, prepare.go), settle (settle.go)
//	bulk.go      one bulk request and the answer to each of its items
//	judgement.go what an answer means for a change, by what elastic.Classify says of it
//	overtaken.go what the index has that is ahead of the journal
//	trace.go     the spans of bulks and of settled changes
//	refresh.go   have searches see what was written (refresh_lane.go: when)
//	sending.go   in which bulks, and which document is to blame where one fails
//	failing.go   what is remembered of documents that were not taken
//	generation.go, traffic.go   did Elasticsearch die, and what was under way?
//	rebuild.go   what can be asked of a rebuild, and is told of it
//	indexer.go   the configuration, and what is needed of others
//	commands.go  what is asked of the dispatcher; rebuild_show.go executes it
//	status.go    rebuilds and waiting indices, for whoever asks (waiting.go)
//	confirm.go   does the index have what was sent again and refused?
//	notes.go     what the journal is to remember, without waiting for its disk
//	metrics.go   every metric, from zero on
//
// Package verify tells whether the index has what the journal has, package probe how long
// it takes until a search shows a change.
//
// The rules that keep the index right:
//
//   - The journal gives out the newest version of a document only, and no
//     document twice at a time. Versions go out as external versions, so that
//     Elasticsearch refuses a write that a time-out let overtake a newer one.
//   - Whatever is not settled stays in the journal. A worker holds changes for
//     the length of one task and no longer, so memory stays flat however long
//     Elasticsearch is away, and a crash loses nothing.
//   - When a bulk makes no progress at all, its lane closes for a while, backing
//     off with jitter and without end, and opens with one small bulk. Other lanes go
//     on. When a bulk makes some, only the changes that failed wait. A change that fails
//     by itself waits by itself in either case, so that others get in.
//   - As soon as nothing more of a kind waits to be written, its index is refreshed,
//     and then rests. While more waits, it is left to the index's own interval.
//   - The changes of a bulk that fails as a whole go in smaller ones. A change that fails
//     even alone may be the cause: it lets others go first, and goes in bulks of its own.
//     It becomes a dead letter only where nothing but it can be the cause (sending.alone).
//   - After Elasticsearch was away, recent deletes are sent again: a restart has
//     made it forget their versions. Only a check or a bulk shows that it is there.
//   - Every index is checked now and then, whether there is something to send or not.
//
// # Rebuild
//
// A rebuild makes the index of a kind anew, from the journal, while apps search the
// old one. It is started by an operator, when the index is found at the start to
// be made from another mapping, or when one was interrupted.
//
//  1. With nothing else under way for that kind, the new index is made and the
//     journal marks every settled document to be sent again (rebuild_steps.go).
//  2. From then on, live changes go to the alias and then to the new index, and
//     documents that are sent again to the new one only (dualwrite.go). A change is
//     settled when both have it.
//  3. When no mark is left, and nothing waits that waited when the last mark went,
//     the new index lacks nothing. With nothing else under way, it is refreshed,
//     and one request moves the alias. The old index goes a little later.
//
// The dispatcher knows where a rebuild is (rebuild_state.go, rebuild_lane.go) and gives its steps as
// tasks. What is more than passing trouble of the new index ends the rebuild: it is
// deleted, and those who search notice nothing. A document that only the new
// mapping refuses is such trouble; one that only the old index refuses is a dead
// letter until the swap, and is then sent once more by itself. A swap that would
// take more than half of the documents away is not made.
//
// What an index is to riskdex is written on it, as further aliases that move in the
// same step as the one that apps search: <alias>-rebuilding while it is filled,
// <alias>-filled when it is kept in step, <alias>-retired when its place was taken.
// So a crash at any point leaves nothing that could be taken for something else,
// and an index behind the alias that somebody else has put there is noticed. So is
// one that was restored, aliases included, also while no riskdex ran: every index has
// its own uuid in its mapping, which is wrong for whatever is made from it. To both,
// everything is sent.
//
// A rebuild may take the index over from another journal (foreign.go). Its new index is then
// the claim, and all there is of it: whoever fills the old one waits while the claim is
// there, and nobody writes to the old one. So it is whole when the new one goes, and
// nothing of it is in the new one when that takes its place. The new index of a take-over
// that has ended otherwise goes at the next check, in this process or the next, and what
// only it had is marked to be sent again. Before one is made, the documents of both are
// counted. The new one takes the place no sooner than two checks of the other journal's
// process after it was made.
//
// # Several processes
//
// Indexers of several processes may share a journal that gives each document to one of
// them at a time. What concerns a whole index is done by one process alone: it locks
// the kind in the journal while it rebuilds, and while it has everything sent again to an
// index that was lost. The journal has it wait until the others have settled what they
// were sending, and gives them nothing meanwhile (report.ErrHeld). Their lanes close for
// that time; then they forget what they knew of the index and check it anew (lane.lose). One
// that was taken for dead finds so before it moves an alias, and the names of new
// indices are not used twice.
package indexer

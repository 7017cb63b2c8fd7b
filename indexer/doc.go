// Package indexer takes pending changes from the journal and makes sure that Elasticsearch
// shows them, whatever fails in between.
//
// One dispatcher (Run) owns a lane per kind and gives tasks to a pool of workers; the probe has a
// lane and a worker of its own. In a task, a worker claims changes of one kind, sends them as one
// bulk, and settles each of them by its own answer:
//
//	dispatch.go  which lane gets a task, and when
//	lane.go      what is known of one kind's index: healthy, in trouble, paused
//	setback.go   was the journal set back to an older state?
//	turns.go     does the address lead to one cluster, or to several by turns?
//	check.go     is the index there, and what have earlier runs left to do?
//	task.go      claim, send (send.go, prepare.go), settle (settle.go)
//	reading.go   how the records of a kind are read, as they tell it themselves
//	bulk.go      one bulk request and the answer to each of its items
//	judgement.go what an answer means for a change, by what elastic.Classify says of it
//	ahead.go     what the index has that is ahead of the journal
//	trace.go     the spans of bulks and of settled changes
//	refresh.go   have searches see what was written (refresh_lane.go: when)
//	sending.go   in which bulks, and which document is to blame where one fails
//	failing.go   what is remembered of documents that were not taken
//	generation.go, traffic.go   did Elasticsearch die, and what was under way?
//	rebuild.go   what can be asked of a rebuild, and is told of it
//	indexer.go   the configuration, and what is needed of others
//	commands.go  what is asked of the dispatcher, and executed by it
//	rebuild_show.go  what is shown, logged and measured of a rebuild
//	status.go    rebuilds and waiting indices, for whoever asks (waiting.go)
//	confirm.go   does the index have what was sent again and refused?
//	notes.go     what the journal is to remember, without waiting for its disk
//	metrics.go   every metric, from zero on
//
// Package verify compares the index with the journal; package probe measures how long it takes
// until a search shows a change.
//
// The rules that keep the index right:
//
//   - The journal gives out only the newest version of a document, and no document twice at a
//     time. Versions go out as external versions, so Elasticsearch refuses a delayed write
//     that a newer one has overtaken.
//   - Whatever is not settled stays in the journal. A worker holds changes for one task and no
//     longer, so memory stays flat however long Elasticsearch is away, and a crash loses
//     nothing.
//   - After a bulk without any progress, its lane closes for a while, with jittered backoff and
//     no limit, and opens with one small bulk. Other lanes go on. After a bulk with some
//     progress, only the changes that failed wait. A change that fails by itself always waits
//     by itself, so that others get in.
//   - As soon as nothing more of a kind waits to be written, its index is refreshed, and then
//     rests. While more waits, the index refreshes at its own interval.
//   - The changes of a bulk that fails as a whole go in smaller ones. A change that fails even
//     alone may be the cause: it yields to others, and goes in bulks of its own. It becomes a
//     dead letter only if nothing else can be the cause (sending.alone).
//   - After Elasticsearch was away, recent deletes are sent again: a restart makes it forget
//     their versions. Only a check or a bulk shows that it is back.
//   - Every index is checked now and then, whether there is something to send or not.
//
// # Rebuild
//
// A rebuild fills a new index of a kind from the journal, while apps search the old one. An
// operator starts it; so does the indexer, if it finds at the start that the index was made
// from another mapping, or that a rebuild was interrupted.
//
//  1. With nothing else under way for that kind, the new index is created (rebuild_steps.go).
//  2. From then on, live changes go to the alias and then to the new index (dualwrite.go). A live
//     change is shown as soon as the alias has it, and settled when both have it.
//  3. Beside them, the journal marks every settled document to be sent again, some thousand at a
//     time. These go to the new index only, in small bulks of their own, but for what is
//     reissued meanwhile and for deletes that Elasticsearch is reminded of.
//  4. The new index is complete when all have been marked, no mark is left, and nothing is
//     pending that was pending when the last mark went. With nothing else under way, it is
//     refreshed, and one request moves the alias. The old index is deleted a little later.
//
// The dispatcher tracks each rebuild (rebuild_state.go, rebuild_lane.go), and its steps are tasks.
// Anything but temporary trouble of the new index ends the rebuild: the new index is deleted,
// and apps notice nothing. A document that only the new mapping refuses is such trouble. One
// that only the old index refuses is a dead letter until the swap, and is then sent again. A
// swap that would take more than half of the documents away is not made.
//
// The role of an index is recorded on the index itself, as further aliases that move together
// with the one that apps search: <alias>-rebuilding while it is filled, <alias>-filled while it
// is kept in step, <alias>-retired after it was replaced. So a crash at any point leaves no
// ambiguity, and an index that somebody else put behind the alias is noticed. A restored index
// is noticed too, even if riskdex was stopped and the aliases were restored with it: the mapping
// of every index has its own uuid, which is wrong in any copy. To both, everything is sent.
//
// A rebuild may take an index over from another journal (otherjournal.go). The process that fills
// the old index pauses while the new one exists, and nobody writes to the old one. So the old index
// is intact if the new one is deleted, and the new one has nothing of it if it replaces the old. If
// the take-over ends in another way, the next check, in this process or the next, deletes the new
// index, and what only that had is marked to be sent again. Before the new index is created, the
// documents of both are counted. It replaces the old one no sooner than two checks of the other
// journal's process later.
//
// # Several processes
//
// Indexers of several processes may share a journal that gives each document to one of them at
// a time. What concerns a whole index is done by one process alone: it locks the kind in the
// journal during a rebuild, and while it has everything sent again to an index that was lost.
// The journal grants the lock once the others have settled what they were sending, and gives them
// nothing meanwhile (report.ErrKindLocked). Their lanes close for that time; then they forget what
// they knew of the index and check it again (lane.leaveToOther). A process that was taken for dead
// finds out before it moves an alias, and names of new indices are never reused.
package indexer

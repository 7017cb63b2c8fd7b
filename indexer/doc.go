// Package indexer takes pending changes from the journal and sees to it that
// Elasticsearch shows them, whatever fails in between.
//
// One dispatcher (Run) owns a lane per kind and gives turns to a pool of
// workers. In a turn a worker claims changes of one kind, sends them as one
// bulk and settles each of them by the answer to it:
//
//	dispatch.go  who may take a turn, and when
//	lane.go      what is known of one kind's index: healthy, in trouble, held
//	turn.go      claim, send, settle
//	bulk.go      one bulk request and the answer to each of its items
//	classify.go  what an answer means for a change: the one place that decides
//
// The rules that keep the index right:
//
//   - The journal gives out the newest version of a document only, and no
//     document twice at a time. Versions go out as external versions, so that
//     Elasticsearch refuses a write that a time-out let overtake a newer one.
//   - Whatever is not settled stays in the journal. A worker holds changes for
//     the length of one turn and no longer, so memory stays flat however long
//     Elasticsearch is away, and a crash loses nothing.
//   - When a bulk makes no progress at all, its lane closes for a while, backing
//     off with jitter and without end, and opens with one probe. Other lanes go
//     on. When a bulk makes some, only the changes that failed wait.
package indexer

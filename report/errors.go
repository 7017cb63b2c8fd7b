package report

import "errors"

// ErrNoRoom is wrapped by the errors of deliveries that are not accepted because the journal
// is at its limit or its disk is nearly full. Deliveries are accepted again as soon as there
// is room.
var ErrNoRoom = errors.New("there is no room for the journal")

// ErrNotFound is returned for a dead letter or a refusal that does not exist, or no longer:
// it was retried, dropped or evicted, or a newer delivery has replaced it.
var ErrNotFound = errors.New("it is not there, or no longer")

// ErrGone is returned for a delivery whose sender hung up before it was committed.
var ErrGone = errors.New("its sender hung up before it was durable, and may have sent a newer one since")

// ErrAmbiguous is returned for a delivery that names a city by a code that several cities
// state, or that one may have which the journal has lost.
var ErrAmbiguous = errors.New("several cities state this code, or one that the journal has lost may, so it is not known which one is meant")

// ErrPlaceForgotten is returned for a refusal that can no longer be retried, whatever its
// body: the journal has dropped tombstones of deletes that came after it, and one of them
// could be of its document.
var ErrPlaceForgotten = errors.New("what was deleted since is no longer known")

// ErrVerifying is returned if a verification of the same kind is already running.
var ErrVerifying = errors.New("this kind is being verified already, by this process or another")

// ErrAway is wrapped by the error of a verification that ended because Elasticsearch did not answer.
var ErrAway = errors.New("no answer of Elasticsearch")

// ErrKindLocked is returned to a process that asks for changes or the lock of a kind while another
// process has that kind locked, or has had it locked in the meantime. What the caller knows
// about the index may be out of date.
var ErrKindLocked = errors.New("another process has locked this kind, or has had it locked since")

// ErrAnotherJournal is returned for an index that another journal fills or is about to fill.
// Copies and backups of a journal count as the same journal.
var ErrAnotherJournal = errors.New("another journal fills this index")

// ErrUndecided is returned for an index that is not used yet, because it has to be checked
// once more which journal fills it.
var ErrUndecided = errors.New("which journal fills this index is not decided yet")

// ErrLossOpen is returned for what would send the state that a journal was set back to: nobody knows
// what came after it, so it could bring back what was deleted, or replace the only copy of a change.
var ErrLossOpen = errors.New("the journal was set back, and what it has from before is not sent again; " +
	"ask the publisher to deliver again what it sent in that time, then: riskdex journal acknowledge-loss")

// ErrSeveralClusters is returned for what would replace an index while several clusters answer: nobody
// knows in which of them.
var ErrSeveralClusters = errors.New("several clusters answer, and it is not known in which of them the index would be replaced; " +
	"have every address of Elasticsearch lead to one, and try again ten minutes later")

// ErrSnapshotTooOld ends the reading of all records when too much was accepted since it began.
var ErrSnapshotTooOld = errors.New("too much was delivered since the read began: the journal cannot keep its snapshot any longer")

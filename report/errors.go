package report

import "errors"

// ErrNoRoom is what the error of whoever takes deliveries wraps while the
// journal is at its limit or its disk is nearly full. It passes by itself once
// there is room.
var ErrNoRoom = errors.New("there is no room for the journal")

// ErrNotFound is what is returned for a dead letter or a refusal that is not there,
// or no longer: it was retried, dropped or dropped out, or a newer delivery has
// taken its place.
var ErrNotFound = errors.New("it is not there, or no longer")

// ErrGone is why a delivery was not taken whose sender hung up before it was committed.
var ErrGone = errors.New("its sender hung up before it was durable, and may have sent a newer one since")

// ErrAmbiguous is why a delivery was not taken that names a city by a code which several
// cities state.
var ErrAmbiguous = errors.New("several cities state this code, so it is not known which one is meant")

// ErrPlaceForgotten is why a refusal cannot be retried any more, whatever its body: since
// then more documents were deleted that are not there than a journal remembers. One of its
// own could be among them.
var ErrPlaceForgotten = errors.New("it is not known any more what was deleted since")

// ErrVerifying is why a verification does not begin.
var ErrVerifying = errors.New("this kind is being verified already, by this process or another")

// ErrHeld is why a process is given no changes of a kind, and may not have it alone:
// another process has it alone, or has had it meanwhile. What is known of its index
// may be wrong by now.
var ErrHeld = errors.New("another process has this kind alone, or has had it meanwhile")

// ErrAnotherJournal is why an index is left alone: a journal fills it, or is about to, that
// is neither this one nor one that this one was copied or restored from.
var ErrAnotherJournal = errors.New("another journal fills this index")

// ErrUndecided is why an index is not used yet: another look has to show which journal
// fills it.
var ErrUndecided = errors.New("it is not decided yet which journal fills this index")

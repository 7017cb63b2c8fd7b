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

package report

import (
	"errors"
	"time"
)

// ReceiptsFor is how long the receipt of a delivery is good for. It has to cover
// the time in which one signed delivery may arrive twice.
const ReceiptsFor = 20 * time.Minute

// Receipt is what is kept of a delivery to which its sender gave an id, so that
// the delivery takes effect once however often it comes.
type Receipt struct {
	Sender string // whose ids these are
	ID     string // of the delivery, of up to 512 bytes
	Digest []byte // of all that the delivery says; of equal deliveries it is equal
	Answer []byte // what the sender is told

	// Answers, if not nil, makes Answer of what became of the changes.
	Answers func([]Stamp) []byte
}

// RepeatedError is why a delivery was not taken that was taken before.
type RepeatedError struct {
	Answer []byte // to the first
}

func (*RepeatedError) Error() string { return "the delivery was accepted before" }

// ErrIDReused is why a delivery was not taken whose id another delivery has had.
var ErrIDReused = errors.New("another delivery with this id was accepted before")

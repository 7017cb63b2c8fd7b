package report

import (
	"errors"
	"time"
)

// ReceiptsFor is how long the receipt of a delivery is valid. It has to cover the time in
// which a signed delivery may arrive twice.
const ReceiptsFor = 20 * time.Minute

// Receipt is kept of a delivery that its sender has given an id, so that the delivery takes
// effect only once however often it arrives.
type Receipt struct {
	Sender string // ids are unique per sender
	ID     string // of the delivery, up to 512 bytes
	Digest []byte // of the whole delivery; equal deliveries have equal digests
	Answer []byte // to the sender

	// Answers, if not nil, makes Answer from what became of the changes.
	Answers func([]Stamp) []byte

	// Newest has a repeat told the newest versions of its documents. It is not kept.
	Newest bool
}

// RepeatedError is returned for a delivery that was accepted before.
type RepeatedError struct {
	Answer []byte // to the first one

	// Newest are the documents of the repeat with their newest versions, if Receipt.Newest asks
	// for them, in the order of its changes. The version of one that is unknown is 0, with the
	// Effect Unknown. Changes that name several cities are left out.
	Newest []Stamp
}

func (*RepeatedError) Error() string { return "the delivery was accepted before" }

// ErrIDReused is returned for a delivery whose id was used for a different delivery.
var ErrIDReused = errors.New("another delivery with this id was accepted before")

package report

import (
	"fmt"
	"hash/crc32"
	"time"
)

// DeliveryName names a delivery by the versions that its changes were given, which no other
// delivery has any of.
type DeliveryName struct {
	First, Last Version // 0 for one that changed nothing
	Changes     int     // that were given a version, deletes of adopted cities among them
}

// NameDelivery returns the name of a delivery with these stamps.
func NameDelivery(stamps []Stamp) (n DeliveryName) {
	for _, s := range stamps {
		for _, v := range []Version{s.Adopted, s.Version} {
			if v == 0 {
				continue
			}
			if n.Changes++; n.First == 0 {
				n.First, n.Last = v, v
			}
			n.First, n.Last = min(n.First, v), max(n.Last, v)
		}
	}
	return n
}

// String is the name as text. Its last part tells a slip of the pen.
func (n DeliveryName) String() string {
	text := fmt.Sprintf("%d-%d-%d", n.First, n.Last-n.First, n.Changes)
	return fmt.Sprintf("%s-%04x", text, crc32.ChecksumIEEE([]byte(text))>>16)
}

// ParseDeliveryName reads what String returns.
func ParseDeliveryName(text string) (n DeliveryName, err error) {
	var further Version
	var sum uint32
	_, err = fmt.Sscanf(text, "%d-%d-%d-%x", &n.First, &further, &n.Changes, &sum)
	if n.Last = n.First + further; err != nil || n.String() != text {
		return DeliveryName{}, fmt.Errorf("%q is not the name of a delivery", text)
	}
	return n, nil
}

// Delivered is a document that came with a delivery.
type Delivered struct {
	Key
	Given     Version // when it was delivered
	Version   Version // that it has now; a newer one where the same content is sent once more
	Op        Op
	State     State     // if it was replaced: when it was, empty if nobody knows
	EndedAt   time.Time // of what ended: when, or when the index first had it
	ErrorType string    // of a dead letter
	Reason    string    // of a dead letter
	Retried   bool      // the delivery had it as a refusal, which was accepted at a retry

	// Replaced is set if the content is the newest no longer, and the history knows of it. By
	// what and when is zero if nobody knows. SearchableAt is when the index first had it, or
	// zero.
	Replaced     bool
	ReplacedBy   Version
	ReplacedAt   time.Time
	SearchableAt time.Time
}

// DeliveredPage is a part of what the journal has of a delivery.
type DeliveredPage struct {
	Documents []Delivered // in the order of Given
	Total     int         // documents of the delivery whose newest content came with it
	Retried   int         // besides, those that it had as refusals
	Replaced  int         // its other changes of which the history knows
	Newest    Version     // the newest version that was given out, to any delivery
	Dropped   Version     // the highest version of a tombstone that was dropped
}

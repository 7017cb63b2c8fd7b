package body

import (
	"context"
	"math"
	"runtime/debug"
	"time"

	"riskdex/report"
)

// DefaultSize is the size of a budget: a third of the memory that the process may take, since the journal and
// the garbage collector need as much each beside it, or 512 MiB if GOMEMLIMIT does not say how much that is.
func DefaultSize() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit / 3
	}
	return 512 << 20
}

// holder is the memory of somebody who reads bodies from elsewhere than a request.
type holder struct {
	*reservation
	each  int64 // what a byte of a body takes
	asked int64 // more than is held where that is all that a holder may have
}

// Hold returns a context that carries memory for bodies that come from elsewhere than the request of a
// [Reader], none at first, and a function that gives it back. A byte of such a body takes each bytes, and
// the first 16 KiB take none. A wait for it ends after patience. Only one goroutine at a time may use the
// context.
func (b *Budget) Hold(ctx context.Context, each int64, patience time.Duration) (held context.Context, release func()) {
	h := &holder{reservation: b.reserve(func() {}), each: each}
	h.holds, h.allowance, h.patience, h.done = true, 0, patience, ctx.Done()
	held = context.WithValue(report.WithMemory(ctx, h), holdKey{}, h)
	return held, h.release
}

type holdKey struct{}

// Grow adds to the memory that ctx carries, if it carries any. The error is ErrBusy.
func Grow(ctx context.Context, bytes int64) error {
	if h, ok := ctx.Value(holdKey{}).(*holder); ok {
		return h.hold(h.asked+bytes, true)
	}
	return nil
}

// Need implements report.Memory. The error is ErrBusy, or without wait report.ErrNoMemory.
func (h *holder) Need(bodies int64, wait bool) error {
	return h.hold(h.each*max(0, bodies-smallBody), wait)
}

// hold changes how much is held.
func (h *holder) hold(bytes int64, wait bool) error {
	h.asked = bytes
	more := min(bytes, h.of.size-h.of.kept) - h.held // only this goroutine changes held
	switch {
	case more <= 0:
		h.shrink(-more)
		return nil
	case wait:
		return h.grow(more)
	}
	freed, err := h.of.grant(h.reservation, more)
	if freed != nil {
		return report.ErrNoMemory
	}
	return err
}

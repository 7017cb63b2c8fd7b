package body

import (
	"context"
	"math"
	"runtime/debug"
)

// DefaultSize is the size of a budget: a third of the memory that the process may take, since the journal and
// the garbage collector need as much each beside it, or 512 MiB if GOMEMLIMIT does not say how much that is.
func DefaultSize() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit / 3
	}
	return 512 << 20
}

type holdKey struct{}

// Hold returns a context that carries memory for bodies that come from elsewhere than the request of a
// [Reader], none at first, and a function that gives it back. Only one goroutine at a time may use it.
func (b *Budget) Hold(ctx context.Context) (held context.Context, release func()) {
	c := b.reserve(func() {})
	c.complete, c.allowance, c.done = true, 0, ctx.Done()
	return context.WithValue(ctx, holdKey{}, c), c.release
}

// Need changes the memory that ctx carries to what a body takes, and waits for it if need be: at most
// seven eighths of the budget, so that something is left for deliveries, and nothing for a small body. It
// does nothing for a context without. The error is ErrBusy.
func (b *Budget) Need(ctx context.Context, bytes int64) error {
	return grow(ctx, func(held int64) int64 {
		return max(0, min(bytes, b.size-b.size/8)-smallBody) - held
	})
}

// Grow adds to the memory that ctx carries. The error is as that of [Reader.Grow].
func (b *Budget) Grow(ctx context.Context, bytes int64) error {
	return grow(ctx, func(int64) int64 { return bytes })
}

func grow(ctx context.Context, by func(held int64) int64) error {
	c, ok := ctx.Value(holdKey{}).(*reservation)
	if !ok {
		return nil
	}
	c.of.mu.Lock()
	more := by(c.held)
	c.of.mu.Unlock()
	if more < 0 {
		c.shrink(-more)
		return nil
	}
	return c.grow(more)
}

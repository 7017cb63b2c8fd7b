package report

import (
	"context"
	"errors"
)

// Memory is memory for bodies that are read from the journal. Only one goroutine at a time uses it.
type Memory interface {
	// Need changes it to what bodies of so many bytes take together. If others have the memory, it
	// waits, or, without wait, returns ErrNoMemory.
	Need(bodies int64, wait bool) error
}

// ErrNoMemory is returned by [TryMemory].
var ErrNoMemory = errors.New("other bodies have the memory")

type memoryKey struct{}

// WithMemory returns a context with the memory of those who read with it.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// AwaitMemory waits for the memory that bodies take, in place of what ctx had before. A journal calls
// it before it reads them. It does nothing for a context without.
func AwaitMemory(ctx context.Context, bodies int64) error { return needMemory(ctx, bodies, true) }

// TryMemory is AwaitMemory for those who hold what others need, such as a connection: it does not wait.
// It is called within [WithinMemory], which does.
func TryMemory(ctx context.Context, bodies int64) error {
	err := needMemory(ctx, bodies, false)
	if errors.Is(err, ErrNoMemory) {
		err = &noMemory{bodies}
	}
	return err
}

func needMemory(ctx context.Context, bodies int64, wait bool) error {
	if m, ok := ctx.Value(memoryKey{}).(Memory); ok {
		return m.Need(bodies, wait)
	}
	return nil
}

// noMemory is ErrNoMemory with what was to be read.
type noMemory struct{ bodies int64 }

func (*noMemory) Error() string { return ErrNoMemory.Error() }

// WithinMemory calls read, and again once there is the memory that it lacked.
func WithinMemory(ctx context.Context, read func() error) error {
	for {
		err := read()
		lacked, ok := errors.AsType[*noMemory](err)
		if !ok {
			return err
		}
		if err := AwaitMemory(ctx, lacked.bodies); err != nil {
			return err
		}
	}
}

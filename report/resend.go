package report

import "context"

// ResendCursor is where a journal goes on to mark the documents of a kind to be sent again, in a form
// that this journal alone reads. The empty one is the beginning and, after the last of them, the end.
type ResendCursor string

// Resender marks some documents of a kind after a cursor to be sent again, as a journal does.
type Resender interface {
	Resend(ctx context.Context, kind Kind, after ResendCursor) (marked int, next ResendCursor, err error)
}

// ResendAll marks all documents of a kind to be sent again, and returns how many. Where it fails
// half-way, some stay marked, which is harmless.
func ResendAll(ctx context.Context, j Resender, kind Kind) (sum int, err error) {
	for next := ResendCursor(""); ; {
		var n int
		n, next, err = j.Resend(ctx, kind, next)
		sum += n
		if err != nil || next == "" {
			return sum, err
		}
	}
}

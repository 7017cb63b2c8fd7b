package journaltest

import (
	"context"

	"riskdex/report"
)

// ResendAll marks every settled document of a kind to be given out again, and returns how many.
func ResendAll(ctx context.Context, j interface {
	Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (int, report.ResendCursor, error)
}, kind report.Kind) (sum int, err error) {
	for next := (report.ResendCursor{}); ; {
		var n int
		n, next, err = j.Resend(ctx, kind, next)
		sum += n
		if err != nil || next == (report.ResendCursor{}) {
			return sum, err
		}
	}
}

package probe

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The log is told of a failing search late at the start, when the indices are still to be made,
// and soon once searches have been answered.
func TestLogIsToldOfFailingSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		works := false
		s := NewSearcher(func(context.Context) error {
			if works {
				return nil
			}
			return errors.New("no such index")
		}, DefaultConfig().Every, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&out, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		after := func(d time.Duration, lines int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := strings.Count(out.String(), "search fails for apps"); got != lines {
				t.Errorf("the log says %d times that searches fail, want %d", got, lines)
			}
		}
		after(firstAnswer-time.Second, 0)
		after(2*searchAgain, 1)
		works = true
		after(DefaultConfig().Every, 1)
		works = false
		after(DefaultConfig().Every+2*searchAgain, 2)
		cancel()
	})
}

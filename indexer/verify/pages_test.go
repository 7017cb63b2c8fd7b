package verify

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"riskdex/internal/testkit/require"
)

// count returns a read that yields 1 to n, and then failed.
func count(n int, failed error) func(context.Context) (int, bool, error) {
	at := 0
	return func(context.Context) (int, bool, error) {
		if at++; at <= n {
			return at, true, nil
		}
		return 0, false, failed
	}
}

// TestEachPage: every page is visited once, in order, and an error on either side ends it.
func TestEachPage(t *testing.T) {
	unreadable, refused := errors.New("unreadable"), errors.New("refused")
	for name, c := range map[string]struct {
		read      error // after three pages
		refusedAt int   // the page that visit refuses; 0 for none
		want      []int
		err       error
	}{
		"all":                   {want: []int{1, 2, 3}},
		"one cannot be read":    {read: unreadable, want: []int{1, 2, 3}, err: unreadable},
		"the first is refused":  {refusedAt: 1, want: []int{1}, err: refused},
		"the last is refused":   {refusedAt: 3, want: []int{1, 2, 3}, err: refused},
		"refused before a fail": {read: unreadable, refusedAt: 3, want: []int{1, 2, 3}, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			var visited []int
			err := eachPage(t.Context(), count(3, c.read), func(page int) error {
				if visited = append(visited, page); page == c.refusedAt {
					return refused
				}
				return nil
			})
			if !errors.Is(err, c.err) || !slices.Equal(visited, c.want) {
				t.Errorf("visited %v with %v, want %v with %v", visited, err, c.want, c.err)
			}
		})
	}
}

// TestEachPageReadsAhead: the next page is read while one is visited, and no further one.
func TestEachPageReadsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, read := count(3, nil), 0
		reading := func(ctx context.Context) (int, bool, error) {
			read++
			return next(ctx)
		}
		require.NoError(t, eachPage(t.Context(), reading, func(page int) error {
			if synctest.Wait(); read != page+1 {
				t.Errorf("while page %d was visited, %d were read, want %d", page, read, page+1)
			}
			return nil
		}))
	})
}

// TestEachPageEndsItsReader: a read under way when a visit fails is cancelled, and has ended
// when eachPage returns.
func TestEachPageEndsItsReader(t *testing.T) {
	refused := errors.New("refused")
	reading, ended := make(chan struct{}), false
	first := true
	read := func(ctx context.Context) (int, bool, error) {
		if first {
			first = false
			return 1, true, nil
		}
		close(reading)
		<-ctx.Done()
		ended = true
		return 0, false, ctx.Err()
	}
	err := eachPage(t.Context(), read, func(int) error {
		<-reading
		return refused
	})
	if !errors.Is(err, refused) || !ended {
		t.Errorf("it returned %v, and the read had ended: %v", err, ended)
	}
}

package probe

import (
	"context"
	"time"
)

// Search searches as apps do. The error says why there is no complete answer.
type Search func(context.Context) error

// SearchFailure says that searches of apps fail.
type SearchFailure struct {
	Since time.Time
	Err   error
}

// SearchFails returns since when each search has failed, and why; nil if the last one was
// answered, or there was none yet. It may be called concurrently.
func (p *Prober) SearchFails() *SearchFailure { return p.fails.Load() }

// Unsearchable returns for how long the current probe has not been found, even if the journal
// does not accept it; 0 if it was found. It may be called concurrently.
func (p *Prober) Unsearchable() time.Duration { return age(p.since.Load()) }

func age(since *time.Time) time.Duration {
	if since == nil {
		return 0
	}
	return max(0, time.Since(*since))
}

// searching searches until ctx is done, more often while that fails.
func (p *Prober) searching(ctx context.Context) {
	logAfter := firstAnswer
	for said := false; ; {
		began, next := time.Now(), p.cfg.Every
		err := p.tried(ctx)
		if ctx.Err() != nil {
			return
		}
		var fails *SearchFailure
		if err != nil {
			fails, next = &SearchFailure{began, err}, min(next, searchAgain)
			if was := p.fails.Load(); was != nil {
				fails.Since = was.Since
			}
		}
		if err == nil {
			logAfter = searchAgain
		}
		was := p.fails.Swap(fails)
		switch {
		case err == nil && said:
			p.log.Info("search answers apps again", "after", time.Since(was.Since).Round(time.Millisecond))
			said = false
		case err != nil && !said && time.Since(fails.Since) >= logAfter:
			p.log.Error("search fails for apps; it is tried again from time to time", "since", fails.Since, "error", err)
			said = true
		}
		if !pause(ctx, next-time.Since(began)) {
			return
		}
	}
}

// Bounds of searching.
const (
	searchAgain = 2 * time.Second  // the longest wait after a failed search, and how long searches fail before the log says so
	firstAnswer = 30 * time.Second // that until one has been answered: at the first start the indices are still to be made
)

func (p *Prober) tried(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	return p.search(ctx)
}

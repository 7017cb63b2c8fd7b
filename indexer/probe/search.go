package probe

import (
	"context"
	"time"
)

// Search searches as apps do. The error says why it is not answered in full.
type Search func(context.Context) error

// SearchFailure is that apps get no answer to a search.
type SearchFailure struct {
	Since time.Time
	Err   error
}

// SearchFails tells since when the search that apps make has failed, at each try, and
// why; nil where the last one was answered, or none has been made yet. It may be called
// at any time, by anybody.
func (p *Prober) SearchFails() *SearchFailure { return p.fails.Load() }

// Unsearchable tells for how long the probe has been waiting, also where the
// journal does not take it; 0 where it was found.
func (p *Prober) Unsearchable() time.Duration { return age(p.since.Load()) }

func age(since *time.Time) time.Duration {
	if since == nil {
		return 0
	}
	return max(0, time.Since(*since))
}

// searching tries the search until ctx is done, and more often while it fails.
func (p *Prober) searching(ctx context.Context) {
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
		was := p.fails.Swap(fails)
		switch {
		case err == nil && said:
			p.log.Info("search answers apps again", "after", time.Since(was.Since).Round(time.Millisecond))
			said = false
		case err != nil && !said && time.Since(fails.Since) >= searchAgain:
			p.log.Error("search fails for apps; it is tried again from time to time", "since", fails.Since, "error", err)
			said = true
		}
		if !pause(ctx, next-time.Since(began)) {
			return
		}
	}
}

// searchAgain is how long after a search that failed the next one comes at the latest, and
// from when on the log tells of it: where there are no indices yet, the first one fails.
const searchAgain = 2 * time.Second

func (p *Prober) tried(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	return p.search(ctx)
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// profileSeconds is the length of CPU and mutex profiles, in seconds.
const profileSeconds = 8

// profile takes profiles of r during a measurement, if they were asked for: of the CPU and
// of locks from now on, and of allocations when stop is called. Do not publish the figures
// of such a run.
func (b *bench) profile(ctx context.Context, r *riskdex, name string) (stop func()) {
	if b.profiles == "" {
		return func() {}
	}
	take := func(what, path string) {
		if err := keepProfile(ctx, "http://"+r.admin+path, filepath.Join(b.profiles, name+"."+what)); err != nil {
			b.say("no profile of %s: %v", what, err)
		}
	}
	var taking sync.WaitGroup
	taking.Go(func() { take("cpu", fmt.Sprintf("/debug/pprof/profile?seconds=%d", profileSeconds)) })
	taking.Go(func() { take("mutex", fmt.Sprintf("/debug/pprof/mutex?seconds=%d", profileSeconds)) })
	return func() {
		taking.Wait()
		for _, what := range []string{"allocs", "heap"} {
			take(what, "/debug/pprof/"+what)
		}
	}
}

func keepProfile(ctx context.Context, url, path string) error {
	profile, err := request(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, profile, 0o666)
}

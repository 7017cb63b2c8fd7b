package admin_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
)

// TestLocksAreProfiledWhileAsked makes goroutines wait for a lock while a profile of locks
// is taken, and looks in it for the goroutine that held the lock.
func TestLocksAreProfiledWhileAsked(t *testing.T) {
	d := openDesk(t)
	var mu sync.Mutex
	var waiting sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		waiting.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					contend(&mu)
				}
			}
		})
	}
	// On a loaded machine a second may be too short for a wait to be sampled.
	contended := false
	for deadline := time.Now().Add(time.Minute); !contended && time.Now().Before(deadline); {
		contended = bytes.Contains(mutexProfile(t, d), []byte("admin_test.contend"))
	}
	close(stop)
	waiting.Wait()
	if !contended {
		t.Error("the profile shows no wait for the lock")
	}
	if rate := runtime.SetMutexProfileFraction(-1); rate != 0 {
		t.Errorf("one of %d waits is recorded although no profile is being taken", rate)
	}
}

func mutexProfile(t *testing.T, d *desk) []byte {
	t.Helper()
	res, err := http.Get(d.server.URL + "/debug/pprof/mutex?seconds=1")
	require.NoError(t, err)
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	require.NoError(t, err)
	profile, err := io.ReadAll(z)
	require.NoError(t, err)
	return profile
}

func contend(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	runtime.Gosched()
}

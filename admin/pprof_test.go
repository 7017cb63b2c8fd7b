package admin_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
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
	res, err := http.Get(d.server.URL + "/debug/pprof/mutex?seconds=1")
	close(stop)
	waiting.Wait()
	must(t, err)
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	must(t, err)
	profile, err := io.ReadAll(z)
	must(t, err)
	if !bytes.Contains(profile, []byte("admin_test.contend")) {
		t.Error("nobody waited for the lock, as the profile has it")
	}
	if rate := runtime.SetMutexProfileFraction(-1); rate != 0 {
		t.Errorf("one of %d waits is noted still, though nobody asks any longer", rate)
	}
}

func contend(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	runtime.Gosched()
}

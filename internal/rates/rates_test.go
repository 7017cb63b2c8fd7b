package rates

import (
	"fmt"
	"testing"
	"time"
)

// TestSendersAreForgotten, however many there are.
func TestSendersAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	l := New(1)
	for i := range 3 * maxClients {
		if i == 2*maxClients {
			now = now.Add(time.Hour)
		}
		if wait := l.Wait(fmt.Sprint(i), now); wait != 0 {
			t.Fatalf("the first of %d has to wait for %v", i, wait)
		}
		if len(l.clients) > maxClients {
			t.Fatalf("%d clients are remembered", len(l.clients))
		}
	}
}

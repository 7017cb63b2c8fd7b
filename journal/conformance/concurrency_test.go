package conformance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"riskdex/report"
)

// ledger records what the senders and the claimers of testConcurrency saw.
type ledger struct {
	mu       sync.Mutex
	newest   map[report.Key]report.Version // those whose Append has returned
	bodies   map[report.Version]string     // delivered, or seen in a claim
	inFlight map[report.Key]report.Version
	indexed  map[report.Key]report.Version // the newest that was settled as indexed
}

// testConcurrency lets many senders and claimers, and an operator who renews documents
// and retries dead letters, compete for few documents in each of the processes that have
// the journal open. No document may be in flight twice, or be given out in a version
// older than one that was known when the Claim began. In the end the sums agree, and the
// newest body of every document was given out last.
func testConcurrency(t *testing.T, hs ...*harness) {
	l := &ledger{
		newest: map[report.Key]report.Version{}, bodies: map[report.Version]string{},
		inFlight: map[report.Key]report.Version{}, indexed: map[report.Key]report.Version{},
	}
	sent := make(chan struct{})
	over := make(chan struct{})
	var senders, claimers, operators sync.WaitGroup
	for s := range 16 {
		senders.Go(func() { l.send(t, hs[s%len(hs)], s) })
	}
	for i := range max(4, 2*len(hs)) {
		claimers.Go(func() { l.claim(t, hs[i%len(hs)], sent) })
	}
	retried := make([]int, len(hs))
	for i, h := range hs {
		operators.Go(func() { retried[i] = operate(t, h, sent, over) })
	}
	senders.Wait()
	close(sent)
	claimers.Wait()
	close(over)
	operators.Wait()

	agree(t, hs)
	again := 0
	for _, n := range retried {
		again += n
	}
	if s := hs[0].stats(t, report.Advisories); s.Pending != 0 || sum(s.Accepted) != 16*100*2+uint64(again) {
		t.Errorf("in the end, after %d retries: %s", again, describe(s))
	}
	for k, v := range l.newest {
		if last := l.indexed[k]; last < v || l.bodies[last] != l.bodies[v] {
			t.Errorf("%s: version %d was indexed last, with %s; the newest delivery is %d, with %s", k.ID, last, l.bodies[last], v, l.bodies[v])
		}
	}
}

// operate renews documents until everything is sent, and retries dead letters until
// everything is over. It returns the number of retries.
func operate(t *testing.T, h *harness, sent, over <-chan struct{}) (retried int) {
	ctx := context.Background()
	for {
		select {
		case <-over:
			return retried
		case <-sent:
		default:
			var renew []report.Stamp
			for _, e := range h.entries(t, report.Advisories, "", 3) {
				renew = append(renew, e.Stamp)
			}
			if _, err := h.Reissue(ctx, renew); err != nil {
				t.Errorf("Reissue: %v", err)
			}
		}
		var letters []report.Stamp
		for _, l := range h.letters(t, report.Advisories, "", 100) {
			letters = append(letters, report.Stamp{Key: l.Key, Version: l.Version})
		}
		n, err := h.RetryDead(ctx, letters)
		if err != nil {
			t.Errorf("RetryDead: %v", err)
		}
		retried += n
	}
}

func (l *ledger) send(t *testing.T, h *harness, sender int) {
	for i := range 100 {
		var d report.Delivery
		for n := range 2 {
			d.Changes = append(d.Changes, advisory(fmt.Sprint(rand.IntN(8)), fmt.Sprintf("%d.%d.%d", sender, i, n)))
		}
		stamps, err := h.Append(context.Background(), d)
		if err != nil {
			t.Errorf("Append: %v", err)
			return
		}
		l.mu.Lock()
		for n, s := range stamps {
			l.newest[s.Key] = max(l.newest[s.Key], s.Version)
			l.bodies[s.Version] = string(d.Changes[n].Body)
		}
		l.mu.Unlock()
	}
}

// claim claims and settles until everything was sent and nothing is pending.
func (l *ledger) claim(t *testing.T, h *harness, sent <-chan struct{}) {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		over := false
		select {
		case <-sent:
			over = true
		default:
		}
		known := l.known()
		changes, err := h.Claim(context.Background(), report.Advisories, 1+rand.IntN(4), 1<<20)
		if err != nil {
			t.Errorf("Claim: %v", err)
			return
		}
		if s := h.stats(t, report.Advisories); over && len(changes) == 0 && s.Pending+s.Resending+s.DeadLetters == 0 {
			return
		}
		l.take(t, changes, known)
		var list []report.Settlement
		for _, c := range changes {
			o := []report.Outcome{report.Indexed, report.Indexed, report.Indexed, report.Indexed, report.Retry, report.Retry, report.Dead}[rand.IntN(7)]
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: o})
		}
		l.give(list)
		if err := h.Settle(context.Background(), list); err != nil {
			t.Errorf("Settle: %v", err)
			return
		}
	}
	t.Error("senders and claimers did not finish in time")
}

func (l *ledger) known() map[report.Key]report.Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := map[report.Key]report.Version{}
	maps.Copy(known, l.newest)
	return known
}

func (l *ledger) take(t *testing.T, changes []report.Change, known map[report.Key]report.Version) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		if v, ok := l.inFlight[c.Key]; ok {
			t.Errorf("%s was given out in version %d while %d is in flight", c.ID, c.Version, v)
		}
		if c.Version < known[c.Key] || c.Version <= l.indexed[c.Key] {
			t.Errorf("%s was given out in version %d, but %d was known and %d indexed", c.ID, c.Version, known[c.Key], l.indexed[c.Key])
		}
		if want, ok := l.bodies[c.Version]; ok && want != string(c.Body) {
			t.Errorf("%s has the body %s in version %d, want %s", c.ID, c.Body, c.Version, want)
		}
		l.inFlight[c.Key] = c.Version
		l.bodies[c.Version] = string(c.Body)
	}
}

func (l *ledger) give(list []report.Settlement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range list {
		delete(l.inFlight, s.Key)
		if s.Outcome == report.Indexed {
			l.indexed[s.Key] = s.Version
		}
	}
}

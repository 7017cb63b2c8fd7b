package receiver

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxSenders bounds the senders that are distinguished. There can be that many only where
// deliveries are accepted without credentials.
const maxSenders = 10_000

// rates limits the deliveries a second of each sender. Those of one second may come at once.
type rates struct {
	perSecond float64
	mu        sync.Mutex
	senders   map[string]*rate.Limiter
}

func newRates(perSecond float64) *rates {
	return &rates{perSecond: perSecond, senders: map[string]*rate.Limiter{}}
}

// wait counts a delivery. It returns 0 if the sender may make it, and otherwise how long the
// sender has to wait.
func (l *rates) wait(who string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.senders[who]
	if limiter == nil {
		l.forget(now)
		limiter = rate.NewLimiter(rate.Limit(l.perSecond), max(1, int(l.perSecond)))
		l.senders[who] = limiter
	}
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return time.Duration(missing / l.perSecond * float64(time.Second))
}

// forget drops senders whose limit has fully recovered, which are like new ones. It frees a
// tenth at once, so that not every new sender causes a scan of all.
func (l *rates) forget(now time.Time) {
	if len(l.senders) < maxSenders {
		return
	}
	for who, limiter := range l.senders {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(l.senders, who)
		}
	}
	for who := range l.senders {
		if len(l.senders) <= maxSenders*9/10 {
			return
		}
		delete(l.senders, who) // that sender may send a little more
	}
}

// Package loglimit bounds how often a message that may recur is logged.
package loglimit

import (
	"sync"
	"time"
)

// Limiter lets each of some messages be logged at most once in Every, which must be greater than
// zero. It remembers every message, so there should be few. It may be used concurrently.
type Limiter struct {
	Every time.Duration

	mu   sync.Mutex
	last map[string]*logged
}

// logged says when a message was last logged, and how many times it was suppressed since.
type logged struct {
	at         time.Time
	suppressed int
}

// Allow reports whether a message may be logged now, and how many times it was suppressed since it
// was last logged. A clock that was set back suppresses nothing.
func (l *Limiter) Allow(message string, now time.Time) (ok bool, suppressed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last[message]
	if last == nil {
		if l.last == nil {
			l.last = map[string]*logged{}
		}
		l.last[message] = &logged{at: now}
		return true, 0
	}
	if age := now.Sub(last.at); age >= 0 && age < l.Every {
		last.suppressed++
		return false, 0
	}
	suppressed = last.suppressed
	*last = logged{at: now}
	return true, suppressed
}

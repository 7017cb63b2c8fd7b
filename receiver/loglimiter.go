package receiver

import (
	"log/slog"
	"sync"
	"time"
)

// logLimiter writes at most one line a second of each message, or one every interval, with
// the number of lines that were left out since: senders can cause these messages as often as
// they like. Messages are constants, so there are few.
type logLimiter struct {
	every time.Duration
	mu    sync.Mutex
	said  map[string]*lastLine // by message
}

type lastLine struct {
	at     time.Time
	silent int
}

func (l *logLimiter) log(r *Receiver, d *delivery, level slog.Level, msg string, attrs ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, last := r.now(), l.said[msg]
	if last == nil {
		if l.said == nil {
			l.said = map[string]*lastLine{}
		}
		last = &lastLine{}
		l.said[msg] = last
	} else if age := now.Sub(last.at); age >= 0 && age < max(l.every, time.Second) {
		last.silent++
		return
	}
	attrs = append(attrs, "kind", d.kind, "method", d.method)
	if last.silent > 0 {
		attrs = append(attrs, "others_since", last.silent)
	}
	r.log.Log(d.req.Context(), level, msg, attrs...)
	last.at, last.silent = now, 0
}

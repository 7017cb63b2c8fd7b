package receiver

import (
	"log/slog"

	"riskdex/internal/loglimit"
)

// logLimited logs a message about a delivery, unless the limiter suppresses it, with the number of
// those that it has suppressed. Messages are constants, so there are few.
func (r *Receiver) logLimited(l *loglimit.Limiter, d *delivery, level slog.Level, msg string, attrs ...any) {
	ok, suppressed := l.Allow(msg, r.now())
	if !ok {
		return
	}
	attrs = append(attrs, "kind", d.kind, "method", d.method)
	if suppressed > 0 {
		attrs = append(attrs, "others_since", suppressed)
	}
	r.log.Log(d.req.Context(), level, msg, attrs...)
}

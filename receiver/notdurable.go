package receiver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"riskdex/report"
)

// Why a delivery was not made durable: the label `cause` of the metric.
const (
	causeBusy       = "busy" // it did not reach the journal
	causeSenderLeft = "sender_left"
	causeTimeout    = "timeout"
	causeNoRoom     = "no_room"
	causeJournal    = "journal"
)

// notDurableCauses are the reasons why a delivery is not made durable. Each has a log message and
// a counter of its own, because the remedies differ. Secrets that cannot be read are none of
// them: that is counted with the rejected requests.
func notDurableCauses() []string {
	return []string{causeBusy, causeSenderLeft, causeTimeout, causeNoRoom, causeJournal}
}

// notDurable is a delivery that the journal did not accept.
type notDurable struct {
	cause  string
	level  slog.Level
	says   string // in the log
	answer *problem
}

// whyNotDurable returns what an error of the journal means. After a time-out, the journal may
// still have accepted the delivery.
func whyNotDurable(err error) notDurable {
	unavailable := func(reason, detail string) *problem {
		return newProblem(http.StatusServiceUnavailable, reason, detail)
	}
	const later = "The delivery could not be made durable now. Do not count on it; send it again later, which is harmless in any case."
	switch {
	case errors.Is(err, report.ErrGone):
		return notDurable{causeSenderLeft, slog.LevelInfo, "its sender hung up before it was durable", unavailable(reasonJournal,
			"The connection was closed on the sender's side before the delivery was durable, so nothing of it was accepted. Send it again, and keep the connection open until the answer has come.")}
	case errors.Is(err, report.ErrNoRoom):
		return notDurable{causeNoRoom, slog.LevelWarn, "there is no room in the journal", unavailable(reasonNoRoom,
			"There is no room to keep the delivery. Nothing of it was accepted; send it again later. The operator is to make room.")}
	case errors.Is(err, context.DeadlineExceeded):
		return notDurable{causeTimeout, slog.LevelError, "the journal did not make it durable in time", unavailable(reasonJournal, later)}
	}
	return notDurable{causeJournal, slog.LevelError, "the journal could not make it durable", unavailable(reasonJournal, later)}
}

// answerNotDurable answers a delivery that the journal did not accept.
func (r *Receiver) answerNotDurable(d *delivery, err error, attrs ...any) {
	l := whyNotDurable(err)
	r.metrics.notDurable.WithLabelValues(string(d.kind), l.cause).Inc()
	limiter := &r.rejections
	if l.cause == causeNoRoom { // which lasts, and which the journal logs too
		limiter = &r.recurring
	}
	r.logLimited(limiter, d, l.level, "delivery not accepted: "+l.says, append(attrs, "error", err)...)
	r.answer(d, l.answer)
}

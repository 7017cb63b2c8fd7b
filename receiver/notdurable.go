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
	causeBusy       = "busy" // it did not come as far as the journal
	causeSenderLeft = "sender_left"
	causeTimeout    = "timeout"
	causeNoRoom     = "no_room"
	causeJournal    = "journal"
)

// lossCauses are what keeps a delivery from being made durable, each with a line of the
// log and a counter of its own: what to do about them has nothing in common. A door that
// cannot read its secrets is none of them: it is counted with what the door turns away.
func lossCauses() []string {
	return []string{causeBusy, causeSenderLeft, causeTimeout, causeNoRoom, causeJournal}
}

// loss is a delivery that the journal did not take.
type loss struct {
	cause  string
	level  slog.Level
	says   string // in the log
	answer *problem
}

// lossOf tells what an error of the journal means. It may have taken the delivery all the
// same, if the wait for it was what ended.
func lossOf(err error) loss {
	unavailable := func(reason, detail string) *problem {
		return newProblem(http.StatusServiceUnavailable, reason, detail)
	}
	const later = "The delivery could not be made durable now. Do not count on it; send it again later, which is harmless in any case."
	switch {
	case errors.Is(err, report.ErrGone):
		return loss{causeSenderLeft, slog.LevelInfo, "its sender hung up before it was durable", unavailable(reasonJournal,
			"The connection was closed on the sender's side before the delivery was durable, so nothing of it was accepted. Send it again, and keep the connection open until the answer has come.")}
	case errors.Is(err, report.ErrNoRoom):
		return loss{causeNoRoom, slog.LevelWarn, "there is no room in the journal", unavailable(reasonNoRoom,
			"There is no room to keep the delivery. Nothing of it was accepted; send it again later. The operator is to make room.")}
	case errors.Is(err, context.DeadlineExceeded):
		return loss{causeTimeout, slog.LevelError, "the journal did not make it durable in time", unavailable(reasonJournal, later)}
	}
	return loss{causeJournal, slog.LevelError, "the journal could not make it durable", unavailable(reasonJournal, later)}
}

// lose answers a delivery that the journal did not take.
func (r *Receiver) lose(d *delivery, err error, attrs ...any) {
	l := lossOf(err)
	r.metrics.lost.WithLabelValues(string(d.kind), l.cause).Inc()
	log := &r.limited
	if l.cause == causeNoRoom { // which lasts, and which the journal tells of as well
		log = &r.seldom
	}
	log.log(r, d, l.level, "delivery not accepted: "+l.says, append(attrs, "error", err)...)
	r.answer(d, l.answer)
}

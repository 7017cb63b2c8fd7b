package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"riskdex/internal/problem"
	"time"

	"riskdex/report"
)

// Verifier compares an index with the journal.
type Verifier interface {
	// Verify calls tell with its findings, its progress and what it waits for, one at a time. If there
	// is an error, the report has what was found until then. With report.ErrAway, other kinds cannot
	// be compared either. Verify ends soon after ctx.
	Verify(ctx context.Context, kind report.Kind, opt VerifyOptions, tell func(VerifyEvent)) (report.VerifyReport, error)
}

// VerifyOptions says what to do about findings.
type VerifyOptions struct {
	Repair        bool // repair them through the journal
	RemoveForeign bool // including those that may come from another journal
}

// VerifyEvent is one line of the answer to a verification. One of its members is set. The
// answer is complete if it has a report of every kind that was asked for.
type VerifyEvent struct {
	Progress *report.VerifyProgress `json:"progress,omitempty"`
	Finding  *report.VerifyFinding  `json:"finding,omitempty"`
	Waiting  *report.Waiting        `json:"waiting,omitempty"` // comes again every few seconds, and once it has ended
	Report   *report.VerifyReport   `json:"report,omitempty"`
}

// attributes returns a report as attributes of a log line.
func attributes(r report.VerifyReport, kind report.Kind) []any {
	return []any{
		"kind", kind, "live", r.Live, "deleted", r.Deleted, "refused", r.Refused, "indexed", r.Indexed, "under_way", r.UnderWay,
		"missing", r.Missing, "stale", r.Stale, "foreign", r.Foreign,
		"ordered", r.Ordered, "repaired", r.Repaired, "kept", r.Kept,
	}
}

// verifications answers the call for a verification with a stream of events.
type verifications struct {
	verifier Verifier
	log      *slog.Logger
}

// progressEvery is the shortest time between two reports of progress, and clientTimeout how
// long a stream waits for the client to accept an event.
const (
	progressEvery = 200 * time.Millisecond
	clientTimeout = time.Minute
)

func (v *verifications) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := &request{r}
	kinds, opt, err := in.verification()
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stream := newEventStream(w, cancel)
	var away error
	for _, kind := range kinds {
		if away != nil {
			stream.tell(VerifyEvent{Report: &report.VerifyReport{Kind: kind, Error: fmt.Sprintf("%s is not compared: %v", kind, away)}})
			continue
		}
		found, err := v.verifier.Verify(ctx, kind, opt, stream.tell)
		if cause := context.Cause(ctx); cause != nil {
			v.log.InfoContext(ctx, "verification given up: the client left", "kind", kind, "cause", cause)
			return
		}
		if err != nil { // go on with the other kinds
			v.log.ErrorContext(ctx, "verification failed", "kind", kind, "error", err)
			found.Error = err.Error()
			if errors.Is(err, report.ErrAway) {
				away = report.ErrAway
			}
		} else {
			v.log.InfoContext(ctx, "verified", attributes(found, kind)...)
		}
		found.Kind = kind
		stream.tell(VerifyEvent{Report: &found})
	}
}

// verification returns which kinds the query asks to compare, and what to do about findings.
func (r *request) verification() (kinds []report.Kind, opt VerifyOptions, err error) {
	var errs [4]error
	errs[0] = r.checkQuery("kind repair remove_foreign")
	kinds, errs[1] = r.kinds()
	opt.Repair, errs[2] = r.flag("repair")
	opt.RemoveForeign, errs[3] = r.flag("remove_foreign")
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, opt, err
	}
	if opt.RemoveForeign && !opt.Repair {
		return nil, opt, badRequest("remove_foreign says how to repair: it needs repair=true.")
	}
	return kinds, opt, nil
}

// eventStream writes events to a client. If that fails, it calls broken: the client is gone.
type eventStream struct {
	out     interface{ Encode(any) error }
	control *http.ResponseController
	broken  context.CancelCauseFunc
	shown   time.Time // when progress was last sent
}

// newEventStream begins an answer of JSON lines.
func newEventStream(w http.ResponseWriter, broken context.CancelCauseFunc) *eventStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s := &eventStream{out: problem.NewEncoder(w), control: http.NewResponseController(w), broken: broken}
	_ = s.control.Flush() // the first line may take a while
	return s
}

func (s *eventStream) tell(e VerifyEvent) { s.send(e, e.Progress != nil, e.Finding == nil) }

// send sends an event, but drops progress that comes too soon after the previous one.
// Urgent events are flushed at once, and others with them or a little later.
func (s *eventStream) send(e any, progress, urgent bool) {
	now := time.Now()
	if progress {
		if now.Sub(s.shown) < progressEvery {
			return
		}
		s.shown = now
	}
	// The listener's write timeout is for a whole answer, which may take longer here.
	err := s.control.SetWriteDeadline(now.Add(clientTimeout))
	if err == nil || errors.Is(err, http.ErrNotSupported) {
		err = s.out.Encode(e)
	}
	if err == nil && (urgent || now.Sub(s.shown) >= progressEvery) {
		err = s.control.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.broken(err)
	}
}

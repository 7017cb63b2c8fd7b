package admin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"riskdex/report"
)

// Verifier compares an index with the journal.
type Verifier interface {
	// Verify calls tell with what it finds and how far it is, from its own
	// goroutine. The report has what was found also if there is an error. It
	// ends soon after ctx.
	Verify(ctx context.Context, kind report.Kind, opt VerifyOptions, tell func(VerifyEvent)) (VerifyReport, error)
}

// VerifyOptions says what is to be done about findings.
type VerifyOptions struct {
	Repair        bool // have them mended, by way of the journal
	RemoveForeign bool // also those that may come from another journal
}

// VerifyEvent is one line of the answer to a verification. One of its members is
// set. An answer is whole when it has a report of every kind that was asked for.
type VerifyEvent struct {
	Progress *VerifyProgress `json:"progress,omitempty"`
	Finding  *VerifyFinding  `json:"finding,omitempty"`
	Report   *VerifyReport   `json:"report,omitempty"`
}

// VerifyProgress tells how far the comparison of a kind is.
type VerifyProgress struct {
	Kind  report.Kind `json:"kind"`
	Phase string      `json:"phase"`
	Done  int         `json:"done"`  // documents, in this phase
	Total int         `json:"total"` // 0 when it is not known
	Found int         `json:"found"`
}

// VerifyFinding is one document that differs.
type VerifyFinding struct {
	Kind           report.Kind    `json:"kind"`
	ID             report.ID      `json:"id"`
	Problem        string         `json:"problem"`         // missing, stale or foreign
	IndexVersion   report.Version `json:"index_version"`   // 0 when the index does not have it
	JournalVersion report.Version `json:"journal_version"` // 0 when the journal does not know it
	Deleted        bool           `json:"deleted"`         // by the journal
	Mended         bool           `json:"mended"`          // the index was seen to be right after the repair
}

// VerifyReport is what came of a kind.
type VerifyReport struct {
	Kind      report.Kind `json:"kind"`
	Error     string      `json:"error,omitempty"` // why not all of it was compared
	Documents int         `json:"documents"`       // that the journal knows: live and deleted ones
	Live      int         `json:"live"`
	Deleted   int         `json:"deleted"`
	Refused   int         `json:"refused"` // of the live ones, by Elasticsearch: the index may lack them
	Indexed   int         `json:"indexed"`
	UnderWay  int         `json:"under_way"` // not judged, since they were changing
	Missing   int         `json:"missing"`
	Stale     int         `json:"stale"`
	Foreign   int         `json:"foreign"`
	Ordered   int         `json:"ordered"` // of those found, to be mended
	Mended    int         `json:"mended"`  // of these, seen to be right
	Kept      int         `json:"kept"`    // foreign ones that a repair has left alone
	Advice    string      `json:"advice,omitempty"`
}

// attributes are what the log says of a report.
func (r VerifyReport) attributes(kind report.Kind) []any {
	return []any{
		"kind", kind, "live", r.Live, "deleted", r.Deleted, "refused", r.Refused, "indexed", r.Indexed, "under_way", r.UnderWay,
		"missing", r.Missing, "stale", r.Stale, "foreign", r.Foreign,
		"ordered", r.Ordered, "mended", r.Mended, "kept", r.Kept,
	}
}

// verifications answers the call for a verification with a stream of lines.
type verifications struct {
	verifier Verifier
	log      *slog.Logger
}

// How often a verification says something, and how long it waits for a client to
// take it.
const (
	progressEvery = 200 * time.Millisecond
	clientPatient = time.Minute
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
	for _, kind := range kinds {
		found, err := v.verifier.Verify(ctx, kind, opt, stream.tell)
		if cause := context.Cause(ctx); cause != nil {
			v.log.Info("verification given up: the client left", "kind", kind, "cause", cause)
			return
		}
		if err != nil { // the other kinds may be well
			v.log.Error("verification failed", "kind", kind, "error", err)
			found.Error = err.Error()
		} else {
			v.log.Info("verified", found.attributes(kind)...)
		}
		found.Kind = kind
		stream.tell(VerifyEvent{Report: &found})
	}
}

// verification returns what the query asks to be compared, and what to be done.
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

// eventStream writes events to a client. When that fails, the client is gone.
type eventStream struct {
	out     interface{ Encode(any) error }
	control *http.ResponseController
	broken  context.CancelCauseFunc
	shown   time.Time // when the last progress was
}

// newEventStream begins an answer of lines of JSON.
func newEventStream(w http.ResponseWriter, broken context.CancelCauseFunc) *eventStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s := &eventStream{out: newEncoder(w), control: http.NewResponseController(w), broken: broken}
	_ = s.control.Flush() // the first line may take a while
	return s
}

func (s *eventStream) tell(e VerifyEvent) { s.send(e, e.Progress != nil, e.Finding == nil) }

// send leaves out progress that comes too soon after the one before. What is urgent goes at
// once, and the rest with it, or a little later.
func (s *eventStream) send(e any, progress, urgent bool) {
	now := time.Now()
	if progress {
		if now.Sub(s.shown) < progressEvery {
			return
		}
		s.shown = now
	}
	// The bound of the listener is on all of an answer, which takes long here.
	err := s.control.SetWriteDeadline(now.Add(clientPatient))
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

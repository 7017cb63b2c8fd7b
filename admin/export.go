package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"riskdex/internal/exportline"
	"riskdex/report"
)

// Records reads the newest record of every document.
type Records interface {
	// Records yields the records of a kind, ordered by id, as they are in one moment. An error
	// comes last; it is report.ErrSnapshotTooOld if too much was delivered meanwhile.
	Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error]
	// Stats says what time it is.
	Stats(ctx context.Context) (report.Stats, error)
}

// Trailers of an export: the number of its records, and of those it left out, by reason. An
// answer without them is not whole.
const (
	TrailerRecords = "Riskdex-Records"
	TrailerDamaged = "Riskdex-Damaged"
	TrailerDropped = "Riskdex-Dropped"
)

// exportChunk is how many bytes an export writes at a time.
const exportChunk = 64 << 10

// exports answers GET /api/export. One export runs at a time, since each keeps the journal from
// reusing the space of records that are replaced meanwhile.
type exports struct {
	journal Records
	metrics *ReadMetrics
	log     *slog.Logger
	running readLimit // of exports
}

func newExports(journal Records, metrics *ReadMetrics, log *slog.Logger) *exports {
	return &exports{journal, metrics, log, make(readLimit, 1)}
}

func (x *exports) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := &request{r}
	err := in.checkQuery("kind versions")
	var kinds []report.Kind
	if err == nil {
		kinds, err = in.kinds()
	}
	versions := false
	if err == nil {
		versions, err = in.flag("versions")
	}
	if err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	slices.Sort(kinds)
	if !x.running.try() {
		writeProblem(w, &Problem{Status: http.StatusServiceUnavailable, Detail: "Another export is under way, and one runs at a time. Try again once it has ended."})
		return
	}
	defer x.running.free()
	stats, err := x.journal.Stats(r.Context())
	if err != nil {
		writeProblem(w, exportProblem(err))
		return
	}
	// Of PostgreSQL's clock, not of this machine's: it accepts the documents.
	w.Header().Set("Date", stats.Now.Format(http.TimeFormat))
	out := newExportWriter(w, versions)
	if err := x.write(r.Context(), out, kinds); err != nil {
		x.metrics.exports.WithLabelValues(exportBroken).Inc()
		x.log.WarnContext(r.Context(), "export broken off", "kinds", kinds, "records", out.records, "error", err)
		if out.begun {
			panic(http.ErrAbortHandler) // breaks the connection, so that nobody takes the answer for whole
		}
		writeProblem(w, exportProblem(err))
		return
	}
	x.metrics.exports.WithLabelValues(exportDone).Inc()
	x.log.InfoContext(r.Context(), "export made", "kinds", kinds, "records", out.records, "damaged", out.lost[report.LostDamaged], "dropped", out.lost[report.LostDropped])
}

func exportProblem(err error) *Problem {
	if errors.Is(err, report.ErrSnapshotTooOld) {
		return &Problem{Status: http.StatusServiceUnavailable, Detail: err.Error() + ". Make a backup, and export that: riskdex export --journal BACKUP."}
	}
	return problemOf(err)
}

// write writes all records of kinds, and the trailers.
func (x *exports) write(ctx context.Context, out *exportWriter, kinds []report.Kind) error {
	for _, kind := range kinds {
		for r, err := range x.journal.Records(ctx, kind) {
			if err != nil {
				return err
			}
			if r.Lost == report.LostDamaged {
				x.log.ErrorContext(ctx, "a damaged record is left out of the export; ask the publisher to deliver it again", "kind", r.Kind, "id", r.ID)
			}
			if r.Lost == report.NotLost {
				x.metrics.exported.WithLabelValues(string(kind)).Inc()
			}
			if err := out.add(r); err != nil {
				return err
			}
		}
	}
	return out.end()
}

// exportWriter writes lines in chunks. A client has the time clientTimeout to take each chunk.
type exportWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	versions bool // lines have the version, also of what is lost
	buf      []byte
	begun    bool // something was written
	records  int
	lost     map[report.Lost]int
}

func newExportWriter(w http.ResponseWriter, versions bool) *exportWriter {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	for _, name := range []string{TrailerRecords, TrailerDamaged, TrailerDropped} {
		w.Header().Add("Trailer", name)
	}
	return &exportWriter{w: w, control: http.NewResponseController(w), versions: versions, lost: map[report.Lost]int{}}
}

func (o *exportWriter) add(r report.Record) error {
	if r.Lost == report.NotLost {
		o.records++
	} else if o.lost[r.Lost]++; !o.versions {
		return nil
	}
	if o.versions {
		o.buf = exportline.AppendVersion(o.buf, r)
	} else {
		o.buf = exportline.Append(o.buf, r)
	}
	if len(o.buf) < exportChunk {
		return nil
	}
	return o.flush()
}

func (o *exportWriter) flush() error {
	o.begun = true
	// The listener's write timeout is for a whole answer; an export may take longer.
	err := o.control.SetWriteDeadline(time.Now().Add(clientTimeout))
	if err == nil || errors.Is(err, http.ErrNotSupported) {
		_, err = o.w.Write(o.buf) // #nosec G705 -- JSON lines, which no browser takes for a page
	}
	if o.buf = o.buf[:0]; cap(o.buf) > 16*exportChunk {
		o.buf = nil // after a large record
	}
	if err != nil {
		return fmt.Errorf("the client is gone, or took nothing for %v: %w", clientTimeout, err)
	}
	return nil
}

// end writes the rest and the trailers.
func (o *exportWriter) end() error {
	if err := o.flush(); err != nil {
		return err
	}
	for name, n := range map[string]int{TrailerRecords: o.records, TrailerDamaged: o.lost[report.LostDamaged], TrailerDropped: o.lost[report.LostDropped]} {
		o.w.Header().Set(name, strconv.Itoa(n))
	}
	return nil
}

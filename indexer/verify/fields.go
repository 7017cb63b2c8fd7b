package verify

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/report"
)

// Fields knows how many documents of each kind have which fields, as apps find them: a feed whose records
// are not understood is indexed without any error.
type Fields struct {
	count        func(ctx context.Context, kind report.Kind) (report.Fields, error)
	ownedByOther func(kind report.Kind) bool
	every        time.Duration
	log          *slog.Logger
	with         *prometheus.GaugeVec
	missing      *prometheus.GaugeVec

	mu  sync.Mutex
	all map[report.Kind]report.Fields
}

// FieldsEvery is the usual time from one count to the next.
const FieldsEvery = 10 * time.Second

// NewFields returns Fields that do not run yet. count asks the index, and fields says which fields it
// counts, so that each has its series from the start.
func NewFields(every time.Duration, count func(context.Context, report.Kind) (report.Fields, error), fields func(report.Kind) []report.FieldCount,
	ownedByOther func(report.Kind) bool, reg prometheus.Registerer, log *slog.Logger) *Fields {
	f := &Fields{
		count: count, ownedByOther: ownedByOther, every: every, log: log, all: map[report.Kind]report.Fields{},
		with: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "riskdex_documents_with_field",
			Help: "Documents that searches find and that have a field. All have an id.",
		}, []string{"kind", "field"}),
		missing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "riskdex_field_missing",
			Help: "1 while fewer documents have a field than should.",
		}, []string{"kind", "field"}),
	}
	reg.MustRegister(f.with, f.missing)
	for _, kind := range report.Kinds() {
		f.show(kind, report.Fields{Fields: fields(kind)})
	}
	return f
}

// Counted returns the last counts of each kind. It may be called concurrently.
func (f *Fields) Counted() map[report.Kind]report.Fields {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.all)
}

// Run counts until ctx is done. It takes no more than a tenth of the time, but counts once a minute
// however slow Elasticsearch is.
func (f *Fields) Run(ctx context.Context) {
	for {
		began := time.Now()
		for _, kind := range report.Kinds() {
			f.look(ctx, kind)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(f.every, min(9*time.Since(began), time.Minute))):
		}
	}
}

// look counts the documents of a kind. What is not known stays as it was; of an index that another journal
// fills, nothing is said.
func (f *Fields) look(ctx context.Context, kind report.Kind) {
	ctx, cancel := context.WithTimeout(ctx, elastic.RequestTimeout)
	defer cancel()
	now, err := f.count(ctx, kind)
	if err != nil {
		f.log.DebugContext(ctx, "cannot count the documents by their fields", "kind", kind, "error", err)
		return
	}
	if f.ownedByOther(kind) {
		for i := range now.Fields {
			now.Fields[i].Missing = false
		}
	}
	f.mu.Lock()
	before := f.all[kind]
	f.all[kind] = now
	f.mu.Unlock()
	f.show(kind, now)
	for i, field := range now.Fields {
		switch was := i < len(before.Fields) && before.Fields[i].Missing; {
		case field.Missing && !was:
			f.log.WarnContext(ctx, "documents lack a field that they should have: riskdex mappings show says how the records are read",
				"kind", kind, "field", field.Field, "with", field.Documents, "documents", now.Documents)
		case was && !field.Missing:
			f.log.InfoContext(ctx, "documents have a field that they lacked", "kind", kind, "field", field.Field)
		}
	}
}

// show puts counts into the metrics.
func (f *Fields) show(kind report.Kind, now report.Fields) {
	f.with.WithLabelValues(string(kind), "id").Set(float64(now.Documents))
	for _, field := range now.Fields {
		f.with.WithLabelValues(string(kind), field.Field).Set(float64(field.Documents))
		missing := 0.0
		if field.Missing {
			missing = 1
		}
		f.missing.WithLabelValues(string(kind), field.Field).Set(missing)
	}
}

package indexer

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/elastic"
	"riskdex/report"
)

// prepareAll prepares changes. The receiver accepts no change without a valid document; should
// there be one, it must not block the others.
func (x *Indexer) prepareAll(ctx context.Context, changes []report.Change) []prepared {
	batch := make([]prepared, 0, len(changes))
	for _, c := range changes {
		p, err := x.prepare(c)
		traced := x.trace(c)
		if err != nil {
			x.log.ErrorContext(traced.context(ctx), "no document could be made of a change", "kind", c.Kind, "id", c.ID, "version", c.Version, "error", err)
			p = prepared{change: c, refused: &judgement{verdict: elastic.Dead, reason: elastic.ReasonDocument, answer: elastic.Answer{ErrorType: "riskdex_document", Detail: err.Error()}}}
		}
		p.traced = traced
		batch = append(batch, p)
	}
	return batch
}

// prepared is a change with its lines of the bulk request: the action, and the document.
type prepared struct {
	change  report.Change
	lines   []byte
	refused *judgement     // why the change has no document; nil if it has one
	ahead   report.Version // the version in the index that overtakes it; 0 if unknown
	traced  *traced        // nil without a trace; copies share it
}

// prepare writes the lines for c. Elasticsearch accepts no line break within a line, and no id
// that is not quoted as JSON.
//
// A panic becomes an error: it must not end the process, which would meet the same change after
// every restart.
func (x *Indexer) prepare(c report.Change) (p prepared, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			p, err = prepared{}, fmt.Errorf("make a document of %s %q: %v", c.Kind, c.ID, cause)
		}
	}()
	lines := make([]byte, 0, 2*len(c.Body)+256)
	lines = append(lines, `{"`...)
	lines = append(lines, c.Op...)
	lines = append(lines, `":{"_id":`...)
	lines, err = jsontext.AppendQuote(lines, string(c.ID))
	if err != nil {
		return prepared{}, fmt.Errorf("quote the id %q: %w", c.ID, err)
	}
	lines = append(lines, `,"version_type":"external","version":`...)
	lines = strconv.AppendInt(lines, int64(c.Version), 10)
	lines = append(lines, "}}\n"...)
	if c.Op == report.Index {
		var unfit []string
		if lines, unfit, err = x.documents.AppendDocument(lines, c); err != nil {
			return prepared{}, fmt.Errorf("make a document of %s %q: %w", c.Kind, c.ID, err)
		}
		for _, field := range unfit {
			x.metrics.leftOut.WithLabelValues(string(c.Kind), field).Inc()
		}
		lines = append(lines, '\n')
	}
	return prepared{change: c, lines: lines}, nil
}

package sqlite

import (
	"context"
	"fmt"

	"riskdex/report"
)

// keepTrace notes the trace of the version that a document was just given, if it has one.
func (s *store) keepTrace(k report.Key, trace string) error {
	if trace == "" {
		return nil
	}
	if _, err := s.st.keepTrace.ExecContext(s.ctx, string(k.Kind), string(k.ID), trace); err != nil {
		return fmt.Errorf("keep the trace of %s %q: %w", k.Kind, k.ID, err)
	}
	s.ledger.Traces++
	return nil
}

// dropTrace forgets the trace of a document, if it has one. It asks the database
// only while there are any: who traces nothing pays nothing.
func (s *store) dropTrace(doc int64) error {
	if s.ledger.Traces == 0 {
		return nil
	}
	result, err := s.st.dropTrace.ExecContext(s.ctx, doc)
	if err != nil {
		return fmt.Errorf("drop the trace of a document: %w", err)
	}
	n, err := result.RowsAffected()
	s.ledger.Traces -= n
	return err
}

// trace returns the trace of a version, or nothing. That it cannot be read must
// not keep its document from being given out.
func (e *engine) trace(k report.Key, v report.Version) string {
	if e.traces.Load() == 0 {
		return ""
	}
	var trace looseText
	if e.st.claimTrace.QueryRowContext(context.Background(), string(k.Kind), string(k.ID), int64(v)).Scan(&trace) != nil {
		return ""
	}
	return string(trace)
}

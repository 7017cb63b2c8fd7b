package indexer

import (
	"context"
	"fmt"

	"riskdex/elastic"
	"riskdex/report"
)

// confirm looks up documents that were sent again and refused. If the index has that very
// version, it refuses only the new form of the document, made for another mapping. Apps see
// the document, so it is not a dead letter.
func (x *Indexer) confirm(ctx context.Context, index string, batch []prepared, judgements []*judgement) {
	var ids []report.ID
	for i, j := range judgements {
		if j != nil && j.verdict == elastic.Dead && batch[i].change.Resent {
			ids = append(ids, batch[i].change.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	has, err := x.versions(ctx, index, ids)
	for i, j := range judgements {
		c := batch[i].change
		switch {
		case j == nil || j.verdict != elastic.Dead || !c.Resent:
		case err != nil:
			*j = judgeError(err)
		case has[c.ID].Version == c.Version:
			*j = judgement{verdict: elastic.Superseded, answer: j.answer}
		}
	}
}

// versions looks ids up in an index, without retries: after any error, the changes are sent
// again.
func (x *Indexer) versions(ctx context.Context, index string, ids []report.ID) (map[report.ID]elastic.Indexed, error) {
	has, err := x.client.Versions(ctx, index, ids)
	if err != nil {
		return nil, fmt.Errorf("look up versions in %s: %s", index, elastic.AnswerOf(err).Detail)
	}
	return has, nil
}

package indexer

import (
	"context"
	"fmt"

	"riskdex/elastic"
	"riskdex/report"
)

// confirm asks the index once more for documents that were sent again and refused. Where
// the index has that very version, it is not the document that is refused but its
// new form, made for a mapping that this index does not have: it is no dead
// letter, apps see it.
func (x *Indexer) confirm(ctx context.Context, index string, batch []prepared, judgements []*judgement) {
	var ids []report.ID
	for i, j := range judgements {
		if j != nil && j.verdict == elastic.Dead && batch[i].change.Again {
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
		case j == nil || j.verdict != elastic.Dead || !c.Again:
		case err != nil:
			*j = judgeError(err)
		case has[c.ID].Version == c.Version:
			*j = judgement{verdict: elastic.Superseded, answer: j.answer}
		}
	}
}

// versions returns what an index has of ids. It asks once: whatever the error, it has the
// change sent again.
func (x *Indexer) versions(ctx context.Context, index string, ids []report.ID) (map[report.ID]elastic.Indexed, error) {
	has, err := x.client.Versions(ctx, index, ids)
	if err != nil {
		return nil, fmt.Errorf("look up versions in %s: %s", index, elastic.AnswerOf(err).Detail)
	}
	return has, nil
}

package indexer

import (
	"riskdex/elastic"
	"riskdex/report"
)

// Judged is how the indexer judges the answer of Elasticsearch to one change.
type Judged struct {
	Verdict, Reason   string
	Status            int
	ErrorType, Detail string
	Whole             bool // the answer was to the whole bulk
}

// Judge reads the answer to a bulk as the indexer does. It returns an error if the
// indexer would not accept it as an answer.
func Judge(status int, text []byte, name string, changes []report.Change) ([]Judged, error) {
	answers := make([]elastic.Answer, len(changes))
	if status == 200 {
		batch := make([]prepared, len(changes))
		for i, c := range changes {
			batch[i].change = c
		}
		var err error
		if answers, err = elastic.ReadBulk(text, name, sent(batch)); err != nil {
			return nil, err
		}
	} else {
		for i := range answers {
			answers[i] = elastic.AnswerOf(elastic.NewResponseError(status, text))
		}
	}
	judged := make([]Judged, len(answers))
	for i, a := range answers {
		j := judge(a)
		judged[i] = Judged{j.verdict.String(), j.reason, a.Status, a.ErrorType, a.Detail, a.Level == elastic.LevelRequest}
	}
	return judged, nil
}

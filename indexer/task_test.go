package indexer

import (
	"testing"

	"riskdex/elastic"
)

func judgements(verdicts ...elastic.Verdict) []judgement {
	var all []judgement
	for _, v := range verdicts {
		j := judgement{verdict: v, reason: v.String()}
		if v == elastic.Bisect {
			j.answer.Level = elastic.LevelRequest
		}
		all = append(all, j)
	}
	return all
}

func TestTroubleIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		judgements []judgement
		want       string
	}{
		"nothing to send":       {nil, ""},
		"all settled":           {judgements(elastic.Settled, elastic.Superseded), ""},
		"one of many fails":     {judgements(elastic.Settled, elastic.Retry, elastic.Settled), ""},
		"a dead letter is over": {judgements(elastic.Dead, elastic.Retry), ""},
		"nothing gets through":  {judgements(elastic.Retry, elastic.Retry), "retry"},
		"held beside settled":   {judgements(elastic.Settled, elastic.Pause), "pause"},
		"refused as a whole":    {judgements(elastic.Bisect), "bisect"},
	} {
		got := ""
		if j := troubleIn(c.judgements); j != nil {
			got = j.reason
		}
		if got != c.want {
			t.Errorf("%s: trouble %q, want %q", name, got, c.want)
		}
	}
}

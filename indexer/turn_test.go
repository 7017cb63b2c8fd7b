package indexer

import (
	"testing"
)

func judgements(verdicts ...verdict) []judgement {
	var all []judgement
	for _, v := range verdicts {
		j := judgement{verdict: v, reason: v.String()}
		if v == bisect {
			j.answer.level = request
		}
		all = append(all, j)
	}
	return all
}

func TestTroubleIn(t *testing.T) {
	for name, c := range map[string]struct {
		judgements []judgement
		want       string
	}{
		"nothing to send":       {nil, ""},
		"all settled":           {judgements(settled, superseded), ""},
		"one of many fails":     {judgements(settled, retry, settled), ""},
		"a dead letter is over": {judgements(dead, retry), ""},
		"nothing gets through":  {judgements(retry, retry), "retry"},
		"held beside settled":   {judgements(settled, hold), "hold"},
		"refused as a whole":    {judgements(bisect), "bisect"},
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

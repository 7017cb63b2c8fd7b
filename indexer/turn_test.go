package indexer

import (
	"testing"
)

func judgements(verdicts ...verdict) []judgement {
	var all []judgement
	for _, v := range verdicts {
		all = append(all, judgement{verdict: v, reason: v.String()})
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

func TestOnlyWhatSpoilsAloneIsDead(t *testing.T) {
	got := spoilt(judgements(settled, bisect, settled))
	if got[1].verdict != dead || got[0].verdict != settled {
		t.Errorf("%v", got)
	}
	// When nothing at all is taken, no document is to blame.
	for _, j := range spoilt(judgements(bisect, bisect)) {
		if j.verdict != bisect {
			t.Errorf("%v", j.verdict)
		}
	}
}

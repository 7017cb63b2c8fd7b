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

func TestOnlyWhatSpoilsAloneIsDead(t *testing.T) {
	got := spoilt(judgements(settled, bisect, settled))
	if got[1].verdict != dead || got[0].verdict != settled {
		t.Errorf("%v", got)
	}
	// When nothing at all is read, no document is to blame.
	unread := judgements(bisect, bisect)
	for _, failure := range []answer{
		{level: transport},
		{level: request, status: 503},
		{level: request, status: 401},
	} {
		unread = append(unread, classify(failure))
	}
	for _, j := range spoilt(unread) {
		if j.verdict == dead {
			t.Errorf("dead, though only failures were seen: %+v", j)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/indexer"
	"riskdex/report"
)

// rebuilding is an admin.Rebuilder that answers requests for a rebuild with order, or
// accepts them if that is nil, and knows these rebuilds. holder is the process that has
// locked each kind according to the journal.
type rebuilding struct {
	order  error
	known  []report.Rebuild
	holder string
}

func (b rebuilding) Rebuild(kind report.Kind) error {
	if b.order == nil {
		return nil
	}
	return rebuildProblem(fmt.Errorf("rebuild %s: %w", kind, b.order))
}

func (b rebuilding) TakeOver(report.Kind) error { return errors.New("nobody asks for that here") }

func (b rebuilding) StopRebuild(report.Kind) error { return errors.New("nobody asks for that here") }

func (b rebuilding) Rebuilds() []report.Rebuild { return b.known }

func (b rebuilding) Stats(context.Context) (report.Stats, error) {
	stats := report.Stats{Kinds: map[report.Kind]report.KindStats{}}
	for _, kind := range report.Kinds() {
		stats.Kinds[kind] = report.KindStats{Holder: b.holder}
	}
	return stats, nil
}

// TestRebuildThatWasNotStarted: a rebuild that ended before is never taken for the one that
// was asked for.
func TestRebuildThatWasNotStarted(t *testing.T) {
	before := report.Rebuild{
		Kind: report.Cities, Phase: "done", Done: true, Total: 293, NewIndex: "cities-v2",
		StartedAt: time.Now().Add(-24 * time.Hour), EndedAt: time.Now().Add(-24*time.Hour + 3*time.Second),
	}
	goesOn := before
	goesOn.Phase, goesOn.Done, goesOn.Active, goesOn.EndedAt = "starting", false, true, time.Time{}
	const other = "other:7"
	for name, c := range map[string]struct {
		rebuilding
		args   string
		status int
		says   []string
		never  string
	}{
		"another process has it":                    {rebuilding{holder: other}, "cities", exitNegative, []string{other, "no rebuild was started"}, "sent in"},
		"and there was one here":                    {rebuilding{holder: other, known: []report.Rebuild{before}}, "cities", exitNegative, []string{other, "no rebuild was started"}, "cities-v2"},
		"and nobody waits":                          {rebuilding{holder: other}, "cities --detach", exitNegative, []string{other}, "started;"},
		"and this one has yet to notice":            {rebuilding{holder: other, known: []report.Rebuild{goesOn}}, "cities --detach", exitNegative, []string{other, "no rebuild was started"}, "started;"},
		"another process has just got it":           {rebuilding{order: report.ErrKindLocked, known: []report.Rebuild{before}}, "cities", exitNegative, []string{"another process", "no rebuild was started"}, "cities-v2"},
		"it has ended before it could be found":     {rebuilding{order: indexer.ErrRebuilding, known: []report.Rebuild{before}}, "cities", exitNegative, []string{"under way already", "it has ended since"}, "cities-v2"},
		"it has ended, and nobody waits":            {rebuilding{order: indexer.ErrRebuilding, known: []report.Rebuild{before}}, "cities --detach", exitNegative, []string{"it has ended since"}, "started;"},
		"the process has been started anew since":   {rebuilding{order: indexer.ErrRebuilding}, "cities", exitNegative, []string{"it has ended since"}, "sent in"},
		"of one kind only is there one":             {rebuilding{order: indexer.ErrRebuilding, known: []report.Rebuild{goesOn}}, "--detach", exitNegative, []string{"advisories: it has ended since"}, "cities: it has ended"},
		"it is under way already, and nobody waits": {rebuilding{order: indexer.ErrRebuilding, known: []report.Rebuild{goesOn}}, "cities --detach", exitDone, []string{"under way already"}, "started"},
		"it was started, as JSON":                   {rebuilding{known: []report.Rebuild{goesOn}}, "cities --detach --json", exitDone, []string{`{"kind":"cities","phase":"starting"`}, "started;"},
		"it was started":                            {rebuilding{known: []report.Rebuild{goesOn}}, "cities --detach", exitDone, []string{"started;"}, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(admin.New(admin.Parts{
				Rebuilder: c.rebuilding, Log: slog.New(slog.DiscardHandler),
				Status: admin.StatusParts{Journal: c.rebuilding, Process: "this:7"},
			}))
			defer server.Close()
			var out, errs bytes.Buffer
			status := run(t.Context(), append(words("rebuild --admin "+server.URL), words(c.args)...), streams{&out, &errs})
			said := out.String() + errs.String()
			if status != c.status || strings.Contains(said, c.never) {
				t.Errorf("status %d, want %d; output %q", status, c.status, said)
			}
			for _, text := range c.says {
				if !strings.Contains(said, text) {
					t.Errorf("the output lacks %q: %q", text, said)
				}
			}
		})
	}
}

// TestRebuildUnderWayIsWaitedFor asks for a rebuild that is already active, and then ends.
func TestRebuildUnderWayIsWaitedFor(t *testing.T) {
	b := &ending{began: time.Now()}
	server := httptest.NewServer(admin.New(admin.Parts{Rebuilder: b, Log: slog.New(slog.DiscardHandler)}))
	defer server.Close()
	var out, errs bytes.Buffer
	status := run(t.Context(), words("rebuild cities --admin "+server.URL), streams{&out, &errs})
	if status != exitDone || !strings.Contains(errs.String(), "under way already") || !strings.Contains(out.String(), "5 documents sent in 2s; apps search cities-v3") {
		t.Errorf("status %d, output %q %q", status, out.String(), errs.String())
	}
	b.looks = 0
	out.Reset()
	var ended report.Rebuild
	status = run(t.Context(), words("rebuild cities --json --admin "+server.URL), streams{&out, &errs})
	if err := json.Unmarshal(out.Bytes(), &ended); err != nil || status != exitDone || ended.Phase != "retiring" || ended.NewIndex != "cities-v3" {
		t.Errorf("status %d, output %q: %v", status, out.String(), err)
	}
}

// ending is a rebuild that is over when it is asked about for the third time.
type ending struct {
	rebuilding
	began time.Time
	looks int
}

func (e *ending) Rebuild(report.Kind) error { return rebuildProblem(indexer.ErrRebuilding) }

func (e *ending) Rebuilds() []report.Rebuild {
	e.looks++
	r := report.Rebuild{Kind: report.Cities, Phase: "filling", Active: true, Total: 5, Remaining: 5, StartedAt: e.began}
	if e.looks > 2 {
		r.Phase, r.Active, r.Done, r.Remaining, r.EndedAt, r.NewIndex = "retiring", false, true, 0, e.began.Add(2*time.Second), "cities-v3"
	}
	return []report.Rebuild{r}
}

// TestReasonsOfRebuildProblems: programs rely on these reasons.
func TestReasonsOfRebuildProblems(t *testing.T) {
	for cause, reason := range map[error]string{
		indexer.ErrRebuilding: admin.ReasonRebuilding, indexer.ErrNotRebuilding: admin.ReasonNotRebuilding,
		indexer.ErrSwapping: admin.ReasonSwapping, report.ErrKindLocked: admin.ReasonHeldElsewhere,
	} {
		p, ok := errors.AsType[*admin.Problem](rebuildProblem(fmt.Errorf("rebuild cities: %w", cause)))
		if !ok || p.Status != 409 || p.Reason != reason {
			t.Errorf("%v: %+v", cause, p)
		}
	}
}

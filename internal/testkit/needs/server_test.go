package needs

import (
	"errors"
	"os"
	"testing"
)

const variable = "RISKDEX_TEST_NEEDS"

// quiet is a test that records how it ended instead of failing.
type quiet struct {
	testing.TB
	fatal, skipped bool
}

func (q *quiet) Helper()               {}
func (q *quiet) Fatal(...any)          { q.fatal = true; panic(q) }
func (q *quiet) Fatalf(string, ...any) { q.fatal = true; panic(q) }
func (q *quiet) Skip(...any)           { q.skipped = true; panic(q) }

// during runs what a test does and returns how it ended.
func during(t *testing.T, do func(testing.TB)) *quiet {
	q := &quiet{TB: t}
	func() {
		defer func() {
			if end := recover(); end != nil && end != any(q) {
				panic(end)
			}
		}()
		do(q)
	}()
	return q
}

func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("is about runs that are not short")
	}
}

func TestServerStartsWhenItIsAskedFor(t *testing.T) {
	notShort(t)
	t.Setenv(variable, "")
	starts, stops := 0, 0
	s := Server{Name: "a server", Variable: variable, Start: func() (string, func() error, error) {
		starts++
		return "tcp://here", func() error { stops++; return nil }, nil
	}}
	if status := s.Main(func() int { return 0 }); status != 0 || starts != 0 {
		t.Errorf("nobody asks: status %d, %d starts", status, starts)
	}
	status := s.Main(func() int {
		for range 2 {
			if url := s.URL(t); url != "tcp://here" || os.Getenv(variable) != url {
				t.Errorf("it is at %q, the environment says %q", url, os.Getenv(variable))
			}
		}
		return 3
	})
	if status != 3 || starts != 1 || stops != 1 {
		t.Errorf("status %d, %d starts, %d stops", status, starts, stops)
	}
}

func TestServerOfTheEnvironment(t *testing.T) {
	notShort(t)
	t.Setenv(variable, "tcp://there")
	s := Server{Variable: variable}
	if url := s.URL(t); url != "tcp://there" {
		t.Errorf("it is at %q", url)
	}
}

func TestServerThatCannotBeHad(t *testing.T) {
	notShort(t)
	t.Setenv(variable, "")
	starts := 0
	s := Server{Variable: variable, Start: func() (string, func() error, error) {
		starts++
		return "", nil, errors.New("broken")
	}}
	ask := func(t testing.TB) { s.URL(t) }
	if !during(t, ask).fatal || starts != 0 {
		t.Errorf("without Main: %d starts", starts)
	}
	s.Main(func() int {
		for range 2 {
			if !during(t, ask).fatal {
				t.Error("it can be had")
			}
		}
		return 0
	})
	if starts != 1 {
		t.Errorf("%d starts", starts)
	}
}

func TestMissingProgram(t *testing.T) {
	notShort(t)
	for ci, fatal := range map[string]bool{"": false, "true": true} {
		t.Setenv("CI", ci)
		end := during(t, func(t testing.TB) { Program(t, "no-such-program", "none") })
		if end.fatal != fatal || end.skipped == fatal {
			t.Errorf("CI=%q: %+v", ci, end)
		}
	}
}

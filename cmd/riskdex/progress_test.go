package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/push"
)

func TestProgressInALogIsALineEverySoOften(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := newProgress(&out)
	p.now, p.shown = func() time.Time { return now }, now
	for done := 1; done <= 10; done++ {
		now = now.Add(time.Second)
		p.show(pushLine(done, 10, int64(done)<<20, 10<<20))
	}
	p.waiting(push.Request{Method: "PUT", Path: "/cities/LON"}, errors.New("no\nanswer"), 1260*time.Millisecond)
	p.clear()
	want := "5 of 10 deliveries sent, 5.0 MiB (50%)\n10 of 10 deliveries sent, 10 MiB (100%)\nPUT /cities/LON: no answer; trying again in 1.3s\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// A file is not a terminal: no line of it is written over.
func TestProgressInAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := newProgress(file)
	p.shown = p.shown.Add(-plainEvery)
	p.show(pushLine(1203, 0, 25, -1))
	p.clear()
	if got, err := os.ReadFile(name); err != nil || string(got) != "1,203 deliveries sent, 25 B\n" {
		t.Errorf("the log has %q, %v", got, err)
	}
}

// Why a request is sent again stays to be read; how far the push is does not.
func TestProgressOnATerminal(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out)
	p.live = true
	p.show(pushLine(1, 4, 13, 25))
	p.waiting(push.Request{Method: "PUT", Path: "/cities/LON"}, errors.New("no answer"), time.Second)
	p.clear()
	if got := out.String(); strings.Count(got, clearLine) != 2 || !strings.HasSuffix(got, clearLine+"PUT /cities/LON: no answer; trying again in 1s\n") {
		t.Errorf("printed %q", got)
	}
}

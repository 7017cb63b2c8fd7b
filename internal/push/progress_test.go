package push

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPlainProgressIsALineEverySoOften(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	d := newPlain(&out, func() time.Time { return now })
	for done := 1; done <= 10; done++ {
		now = now.Add(time.Second)
		d.Update(done, 10, int64(done)<<20)
	}
	d.Waiting(someRequests()[1], errors.New("no answer"), 1260*time.Millisecond)
	d.Close()
	want := "5 of 10 deliveries sent, 5.0 MiB\nPUT /cities/LON: no answer; trying again in 1.3s\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// A file is not a terminal: neither a bar nor colours may get into it.
func TestNoBarOutsideATerminal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := NewDisplay(file, Size(someRequests()))
	d.shown = d.shown.Add(-plainEvery)
	d.Update(3, 4, 25)
	d.Close()
	if got, err := os.ReadFile(name); err != nil || string(got) != "3 of 4 deliveries sent, 25 B\n" {
		t.Errorf("the log has %q, %v", got, err)
	}
}

func TestBar(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var out strings.Builder
		d := newPlain(&out, time.Now)
		d.bar = newBar(&out, Size(someRequests()), colour)
		d.Update(1, 4, 13)
		d.Waiting(someRequests()[1], errors.New("no answer"), time.Second)
		d.Update(4, 4, 25)
		d.Close()
		text := out.String()
		if !strings.Contains(text, "4 of 4 deliveries") || !strings.Contains(text, "no answer") || !strings.HasSuffix(text, "\n") {
			t.Errorf("the bar is %q", text)
		}
		if got := strings.Contains(text, "\x1b[32m"); got != colour {
			t.Errorf("with colour %v the bar is %q", colour, text)
		}
	}
	if d := newBar(&strings.Builder{}, 0, false); d == nil {
		t.Error("no bar for requests without bodies")
	}
}

package reread

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rig is a pair of files, and a clock that a test advances.
type rig struct {
	t      *testing.T
	a, b   string
	at     time.Time
	parsed int
	noted  []error
	files  *Files[string]
	group  Group
}

func start(t *testing.T) *rig {
	r := &rig{t: t, a: filepath.Join(t.TempDir(), "a"), b: filepath.Join(t.TempDir(), "b"), at: time.Unix(0, 0)}
	r.write(r.a, "1")
	r.write(r.b, "2")
	var err error
	r.files, err = Open(&r.group, "both", []string{r.a, r.b}, r.join, func() time.Time { return r.at }, func(err error) { r.noted = append(r.noted, err) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) join(contents [][]byte) (string, error) {
	r.parsed++
	text := string(contents[0]) + "+" + string(contents[1])
	if strings.Contains(text, "bad") {
		return "", errors.New("it is bad")
	}
	return text, nil
}

func (r *rig) write(file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// wants advances the clock by a second and checks what Get returns.
func (r *rig) wants(value, problem string) {
	r.t.Helper()
	r.at = r.at.Add(Every)
	got, err := r.files.Get()
	if got != value || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
		r.t.Errorf("got %q, %v; want %q, %q", got, err, value, problem)
	}
}

func TestFollowsItsFiles(t *testing.T) {
	r := start(t)
	r.wants("1+2", "")
	r.write(r.a, "3") // the same size, and perhaps the same modification time
	if got, err := r.files.Get(); got != "1+2" || err != nil {
		t.Errorf("looked again within a second: %q, %v", got, err)
	}
	r.wants("3+2", "")
	r.wants("3+2", "")
	if r.parsed != 2 || len(r.noted) != 1 || r.noted[0] != nil {
		t.Errorf("parsed %d times, noted %v", r.parsed, r.noted)
	}
}

// TestFollowsLinks swaps a link as Kubernetes does.
func TestFollowsLinks(t *testing.T) {
	r := start(t)
	other := filepath.Join(t.TempDir(), "other")
	r.write(other, "5")
	if err := errors.Join(os.Symlink(other, r.a+".new"), os.Rename(r.a+".new", r.a)); err != nil {
		t.Fatal(err)
	}
	r.wants("5+2", "")
}

func TestKeepsWhatItHadAndSaysWhatIsWrong(t *testing.T) {
	r := start(t)
	r.write(r.b, "bad")
	r.wants("1+2", "it is bad")
	r.wants("1+2", "it is bad") // reported once
	if err := os.Remove(r.b); err != nil {
		t.Fatal(err)
	}
	r.wants("1+2", r.b)
	if err := syscall.Mkfifo(r.b, 0o600); err != nil {
		t.Fatal(err)
	}
	r.wants("1+2", "not a regular file")
	if err := os.Remove(r.b); err != nil {
		t.Fatal(err)
	}
	r.write(r.b, strings.Repeat("x", maxFile+1))
	r.wants("1+2", "larger than")
	r.write(r.b, "2") // the previous content
	r.wants("1+2", "")
	if len(r.noted) != 5 || r.noted[4] != nil {
		t.Errorf("noted %v", r.noted)
	}
}

func TestFollowsAClockThatJumpsBack(t *testing.T) {
	r := start(t)
	r.write(r.a, "4")
	r.at = r.at.Add(-time.Hour - Every)
	r.wants("4+2", "")
}

func TestSaysWhatIsWrongAtTheStart(t *testing.T) {
	r := start(t)
	if _, err := Open(nil, "", []string{r.a, r.a + ".missing"}, r.join, time.Now, func(error) {}); err == nil || !strings.Contains(err.Error(), ".missing") {
		t.Errorf("the error is %v", err)
	}
}

// TestGroupIsReadAtOnce: no second has to pass, and each says what came of it. What cannot be read
// changes nothing.
func TestGroupIsReadAtOnce(t *testing.T) {
	r := start(t)
	outcomes := func(want Outcome) {
		t.Helper()
		all := r.group.Again()
		if len(all) != 1 || all[0].What != want.What || all[0].Changed != want.Changed || (all[0].Err == nil) != (want.Err == nil) {
			t.Errorf("%+v, want %+v", all, want)
		}
	}
	outcomes(Outcome{What: "both"})
	r.write(r.a, "3")
	outcomes(Outcome{What: "both", Changed: true})
	r.write(r.a, "bad")
	outcomes(Outcome{What: "both", Err: errors.New("it is bad")})
	if got, err := r.files.Get(); got != "3+2" || err == nil {
		t.Errorf("got %q, %v", got, err)
	}
	r.write(r.a, "3")
	outcomes(Outcome{What: "both"})
	if len(r.noted) != 3 {
		t.Errorf("noted: %v", r.noted)
	}
}

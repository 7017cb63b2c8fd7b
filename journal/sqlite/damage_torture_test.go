package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// template is a journal to be damaged, with what is known about its documents.
type template struct {
	files map[string][]byte                    // by suffix
	known map[string]map[report.Version]uint32 // the checksum of each version's body
	last  map[string]report.Version
}

// newTemplate writes a journal with documents of all sizes and states. If it was closed,
// its WAL is empty; otherwise the WAL has half of everything.
func newTemplate(t *testing.T, closed bool) *template {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{MinFree: -1})
	m := &template{files: map[string][]byte{}, known: map[string]map[report.Version]uint32{}, last: map[string]report.Version{}}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		if n == 150 {
			if err := j.queue.Do(t.Context(), &commit.Request{}); err != nil {
				t.Fatal(err)
			}
			settleHalf(t, j)
		}
		id := fmt.Sprint("d", n%200)
		body := bytes.Repeat([]byte(fmt.Sprint(id, " ", n, " ")), 1+random.IntN(1<<random.IntN(13)))
		stamps, err := j.Append(t.Context(), journaltest.Put(id, string(body)))
		if err != nil {
			t.Fatal(err)
		}
		if m.known[id] == nil {
			m.known[id] = map[report.Version]uint32{}
		}
		m.known[id][stamps[0].Version] = crc32.ChecksumIEEE(body)
		m.last[id] = stamps[0].Version
	}
	if closed {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-wal", watermarkSuffix} {
		b, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		m.files[suffix] = b
	}
	return m
}

// settleHalf settles some documents, defers others, and truncates the WAL.
func settleHalf(t *testing.T, j *Journal) {
	t.Helper()
	changes, err := j.Claim(t.Context(), report.Advisories, 40, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	var list []report.Settlement
	for i, c := range changes {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Outcomes()[i%2*3], Reason: "because"})
	}
	if err := j.Settle(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if _, err := j.e.readers.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Logf("the WAL is not truncated: %v", err)
	}
}

// damage corrupts one of the files as disks, cables and memory do, and describes how.
func (m *template) damage(r *rand.Rand, suffix string) (b []byte, how string) {
	b = bytes.Clone(m.files[suffix])
	at := r.IntN(len(b))
	sector := at &^ 511
	end := min(sector+512<<r.IntN(5), len(b))
	switch r.IntN(7) {
	case 0, 1:
		b[at] ^= 1 << r.IntN(8)
		how = "a bit"
	case 2:
		for i := range b[at:min(at+16, len(b))] {
			b[at+i] = byte(r.IntN(256))
		}
		how = "some bytes"
	case 3:
		clear(b[sector:end])
		how = "zeros"
	case 4:
		other := r.IntN(len(b)/pageSize) * pageSize
		copy(b[at&^(pageSize-1):], bytes.Clone(b[other:other+pageSize]))
		how = "a page in the wrong place"
	case 5:
		for i := range b[sector:end] {
			b[sector+i] = byte(r.IntN(256))
		}
		how = "a sector of noise"
	default:
		b = b[:max(at, 1)]
		how = "the tail cut off"
	}
	return b, fmt.Sprintf("%s at %d of %d in journal.db%s", how, at, len(m.files[suffix]), suffix)
}

// TestRandomDamage damages journals at random places. Whatever is given out was accepted;
// the rest is named; nothing hangs.
func TestRandomDamage(t *testing.T) {
	times := torture.Extent(40, 500)
	templates := []*template{newTemplate(t, true), newTemplate(t, false)}
	seed := uint64(time.Now().UnixNano())
	ended := map[string]int{}
	start := time.Now()
	for n := range times {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		m := templates[n%2]
		suffix := ""
		if n%4 == 1 {
			suffix = "-wal"
		}
		spoilt, how := m.damage(r, suffix)
		dir := t.TempDir()
		for s, b := range m.files {
			if s == suffix {
				b = spoilt
			}
			if b != nil {
				journaltest.WriteFile(t, filepath.Join(dir, "journal.db"+s), string(b))
			}
		}
		end := m.examine(t, filepath.Join(dir, "journal.db"), suffix == "" && n%2 == 0)
		if suffix != "" {
			end += ", in the log"
		}
		if ended[end]++; strings.HasPrefix(end, "unnoticed") {
			t.Logf("damage %d of seed %d was not noticed: %s", n, seed, how)
			if suffix != "" {
				t.Error("the journal lacks acknowledged changes, and does not report it")
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("damage %d of seed %d: %s", n, seed, how)
		}
	}
	t.Logf("%d damages in %v: %v", times, time.Since(start).Round(time.Millisecond), ended)
}

// examine opens and uses a damaged journal, and describes the result. If everything was
// in the damaged file, nothing older may be given out either.
func (m *template) examine(t *testing.T, path string, newest bool) string {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var log logtest.Buffer
	j, err := Open(ctx, path, journal.Options{MinFree: -1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("the journal does not open, and the error does not help: %v", err)
		}
		return "not opened"
	}
	defer func() { _ = j.Close() }()
	seen := map[string]bool{}
	trouble := m.claims(t, ctx, j, newest, seen)
	trouble = m.letters(t, ctx, j, newest, seen) || trouble
	if _, err := j.Stats(ctx); err != nil {
		trouble = true
	}
	_, err = j.Append(ctx, journaltest.Put("new", "{}"))
	if err != nil && !strings.Contains(err.Error(), path) {
		t.Errorf("the journal accepts nothing new, and the error does not help: %v", err)
	}
	trouble = trouble || err != nil
	if ctx.Err() != nil {
		t.Error("the journal hangs")
	}
	copied, err := Backup(ctx, path, path+".copy", nil)
	noticed := err != nil || copied.Damaged > 0 || copied.Problem != ""
	switch {
	case trouble || log.Count("level=ERROR") > 0:
		return "named"
	case noticed:
		return "named by a backup"
	case len(seen) == len(m.last):
		return "harmless"
	}
	return "unnoticed"
}

// claims claims everything that is given out.
func (m *template) claims(t *testing.T, ctx context.Context, j *Journal, newest bool, seen map[string]bool) (trouble bool) {
	for range 1000 {
		changes, err := j.Claim(ctx, report.Advisories, 50, 64<<20)
		if err != nil {
			return true
		}
		if len(changes) == 0 {
			return false
		}
		for _, c := range changes {
			m.check(t, c, newest)
			seen[string(c.ID)] = true
		}
	}
	t.Error("Claim never ends")
	return true
}

// letters reads the dead letters and the entries.
func (m *template) letters(t *testing.T, ctx context.Context, j *Journal, newest bool, seen map[string]bool) (trouble bool) {
	list, err := j.DeadLetters(ctx, report.Advisories, "", 1000)
	trouble = err != nil
	for _, l := range list {
		full, err := j.DeadLetter(ctx, l.Key)
		if trouble = trouble || err != nil; err != nil {
			continue
		}
		seen[string(l.ID)] = true
		if full.Body != nil {
			m.check(t, full.Change, newest)
		} else {
			trouble = true
		}
	}
	entries, err := j.Entries(ctx, report.Advisories, "", 1000)
	for _, e := range entries {
		if e.State == report.StateSettled {
			seen[string(e.ID)] = true
		}
	}
	return trouble || err != nil
}

func (m *template) check(t *testing.T, c report.Change, newest bool) {
	t.Helper()
	sum, ok := m.known[string(c.ID)][c.Version]
	if !ok || sum != crc32.ChecksumIEEE(c.Body) || c.Op != report.Index || c.Kind != report.Advisories {
		t.Errorf("gave out what was never accepted: %s %q %s, version %d, %d bytes", c.Kind, c.ID, c.Op, c.Version, len(c.Body))
	}
	if newest && c.Version != m.last[string(c.ID)] {
		t.Errorf("gave out an older version of %q", c.ID)
	}
}

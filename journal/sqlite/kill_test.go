package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// childEnv is the environment variable with the path of the journal that TestKillChild
// writes.
const childEnv = "RISKDEX_TEST_JOURNAL"

// noSyncEnv makes the child not wait for the disk.
const noSyncEnv = "RISKDEX_TEST_NO_SYNC"

// acknowledged is a change whose Append has returned in the child.
type acknowledged struct {
	id      string
	version report.Version
	hash    uint32
}

// TestKill repeatedly kills a process that writes a journal. After each kill, everything
// acknowledged is there, nothing is there by half, and the totals agree.
func TestKill(t *testing.T) {
	rounds := torture.Extent(30, 200)
	if testing.Short() {
		rounds = 3
	}
	var path string
	var total int
	for round := range rounds {
		if round%5 == 0 { // the later ones continue with the journal of the one before
			path = filepath.Join(t.TempDir(), "journal.db")
		}
		acks := killOne(t, path, fmt.Sprintf("r%d", round))
		total += len(acks)
		checkSurvivor(t, path, acks)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d acknowledged changes in %d rounds", total, rounds)
}

// killOne lets a child write until it is killed, and returns what it acknowledged.
func killOne(t *testing.T, path, round string) []acknowledged {
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+path, "RISKDEX_TEST_ROUND="+round)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var acks []acknowledged
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // what follows the last newline was not acknowledged
			break
		}
		var a acknowledged
		if _, err := fmt.Sscan(line, &a.id, &a.version, &a.hash); err != nil {
			t.Fatalf("the child wrote %q %s", line, stderr.String())
		}
		if acks = append(acks, a); len(acks) == 1 {
			time.AfterFunc(rand.N(150*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || len(acks) == 0 {
		t.Fatalf("the child was not killed at work: %v %s", err, stderr.String())
	}
	return acks
}

// checkSurvivor opens a journal whose process was killed or lost its disk.
func checkSurvivor(t *testing.T, path string, acks []acknowledged) {
	t.Helper()
	var log logtest.Buffer
	j, err := Open(t.Context(), path, journal.Options{MinFree: -1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if log.Count("level=ERROR") != 0 {
		t.Errorf("SQLite's check of the file reports %s", log.String())
	}
	checkTables(t, j)

	found := documentsOf(t, j)
	parts := map[string]int{} // documents of each delivery
	for id := range found {
		if delivery, _, ok := strings.Cut(id, "/"); ok {
			parts[delivery]++
		}
	}
	for _, a := range acks {
		got := found[a.id]
		if got.version < a.version || got.version == a.version && got.hash != a.hash {
			t.Errorf("acknowledged %+v, found %+v", a, got)
		}
		if j.ledger.LastVersion < a.version {
			t.Errorf("version %d would be given out twice", a.version)
		}
	}
	for delivery, n := range parts {
		if n != partsOf(delivery) {
			t.Errorf("%d of %d documents of delivery %s are there", n, partsOf(delivery), delivery)
		}
	}
}

// documentsOf reads all documents of a journal.
func documentsOf(t *testing.T, j *Journal) map[string]acknowledged {
	t.Helper()
	rows, err := j.e.readers.Query(`SELECT id, version, body FROM documents`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]acknowledged{}
	for rows.Next() {
		var a acknowledged
		var body []byte
		if err := rows.Scan(&a.id, &a.version, &body); err != nil {
			t.Fatal(err)
		}
		a.hash = crc32.ChecksumIEEE(body)
		found[a.id] = a
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// partsOf returns how many documents a delivery has: between 1 and 4.
func partsOf(delivery string) int { return 1 + int(crc32.ChecksumIEEE([]byte(delivery))%4) }

// TestKillChild is the child of TestKill.
func TestKillChild(t *testing.T) {
	path := os.Getenv(childEnv)
	if path == "" {
		t.Skip("it is run by TestKill")
	}
	j, err := open(t.Context(), path, commit.WithDefaults(journal.Options{MinFree: -1}))
	if err != nil {
		t.Fatal(err)
	}
	settle := os.Getenv(noSyncEnv) == ""
	if !settle {
		j.e.sync = func() error { return nil }
	}
	go j.run()
	var wg sync.WaitGroup
	for sender := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				sendUntilKilled(j, fmt.Sprintf("%s-%d-%d", os.Getenv("RISKDEX_TEST_ROUND"), sender, i))
			}
		})
	}
	if settle {
		wg.Go(func() {
			for range j.Changed() {
				settleSome(j)
			}
		})
	}
	wg.Wait()
}

// sendUntilKilled appends one delivery, and prints what was acknowledged in one write.
func sendUntilKilled(j *Journal, delivery string) {
	d := deliveryOf(delivery)
	stamps, err := j.Append(context.Background(), d)
	if err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
	var lines strings.Builder
	for _, a := range acksOf(d, stamps) {
		fmt.Fprintln(&lines, a.id, int64(a.version), a.hash)
	}
	if _, err := io.WriteString(os.Stdout, lines.String()); err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
}

// deliveryOf makes a delivery: documents of its own, and one of a few that all deliveries
// write or delete.
func deliveryOf(delivery string) report.Delivery {
	ids := []string{fmt.Sprint("hot", rand.IntN(10))}
	for n := range partsOf(delivery) {
		ids = append(ids, fmt.Sprintf("%s/%d", delivery, n))
	}
	var d report.Delivery
	for i, id := range ids {
		body := bytes.Repeat([]byte(delivery), 1+rand.IntN(300))
		c := report.Change{Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index, Body: body}
		if i == 0 && rand.IntN(3) == 0 {
			c.Op, c.Body = report.Delete, nil
		}
		d.Changes = append(d.Changes, c)
	}
	return d
}

func acksOf(d report.Delivery, stamps []report.Stamp) (acks []acknowledged) {
	for i, s := range stamps {
		acks = append(acks, acknowledged{string(s.ID), s.Version, crc32.ChecksumIEEE(d.Changes[i].Body)})
	}
	return acks
}

func settleSome(j *Journal) {
	changes, err := j.Claim(context.Background(), report.Advisories, 100, 1<<20)
	if err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
	var list []report.Settlement
	for _, c := range changes {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Outcomes()[rand.IntN(4)]})
	}
	if err := j.Settle(context.Background(), list); err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
}

package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/report"
)

// childEnv holds the path of the journal that TestKillChild is to write.
const childEnv = "RISKDEX_TEST_JOURNAL"

// acknowledged is a change whose Append has returned in the child.
type acknowledged struct {
	id      string
	version report.Version
	hash    uint32
}

// TestKill kills a process that writes a journal, again and again, and checks
// after each that what it had acknowledged is there, nothing is half there, and
// the sums hold.
func TestKill(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 3
	}
	var path string
	var total int
	for round := range rounds {
		if round%5 == 0 { // the others go on with the journal of the one before
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

// killOne has a child write until it is killed, and returns what it acknowledged.
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

// checkSurvivor opens a journal whose process was killed.
func checkSurvivor(t *testing.T, path string, acks []acknowledged) {
	j, err := OpenSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	checkTables(t, j)

	versions := map[string]acknowledged{}
	parts := map[string]int{} // documents of each delivery
	rows, err := j.e.readers.Query(`SELECT id, version, body FROM documents`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a acknowledged
		var body []byte
		if err := rows.Scan(&a.id, &a.version, &body); err != nil {
			t.Fatal(err)
		}
		a.hash = crc32.ChecksumIEEE(body)
		versions[a.id] = a
		if delivery, _, ok := strings.Cut(a.id, "/"); ok {
			parts[delivery]++
		}
	}
	for _, a := range acks {
		if got := versions[a.id]; got.version < a.version || got.version == a.version && got.hash != a.hash {
			t.Errorf("acknowledged %+v, found %+v", a, got)
		}
	}
	for delivery, n := range parts {
		if n != partsOf(delivery) {
			t.Errorf("%d of %d documents of delivery %s are there", n, partsOf(delivery), delivery)
		}
	}
}

// partsOf tells how many documents a delivery has: between 1 and 4.
func partsOf(delivery string) int { return 1 + int(crc32.ChecksumIEEE([]byte(delivery))%4) }

// TestKillChild is the child of TestKill.
func TestKillChild(t *testing.T) {
	path := os.Getenv(childEnv)
	if path == "" {
		t.Skip("it is run by TestKill")
	}
	j, err := OpenSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for sender := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				sendUntilKilled(j, fmt.Sprintf("%s-%d-%d", os.Getenv("RISKDEX_TEST_ROUND"), sender, i))
			}
		})
	}
	wg.Go(func() {
		for range j.Changed() {
			settleSome(j)
		}
	})
	wg.Wait()
}

// sendUntilKilled appends one delivery: documents of its own, and one of a few
// that all deliveries write. It prints what was acknowledged in one write.
func sendUntilKilled(j *SQLite, delivery string) {
	ids := []string{fmt.Sprint("hot", rand.IntN(10))}
	for n := range partsOf(delivery) {
		ids = append(ids, fmt.Sprintf("%s/%d", delivery, n))
	}
	var d report.Delivery
	for _, id := range ids {
		body := bytes.Repeat([]byte(delivery), 1+rand.IntN(300))
		d.Changes = append(d.Changes, report.Change{Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index, Body: body})
	}
	stamps, err := j.Append(context.Background(), d)
	if err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
	var lines strings.Builder
	for i, s := range stamps {
		fmt.Fprintln(&lines, s.ID, int64(s.Version), crc32.ChecksumIEEE(d.Changes[i].Body))
	}
	if _, err := io.WriteString(os.Stdout, lines.String()); err != nil {
		panic(err) // the child ends: nobody else would stop it
	}
}

func settleSome(j *SQLite) {
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

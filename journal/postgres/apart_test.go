package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// underWay executes a large delivery, and calls beside at each attempt, when its
// transaction has done everything but the commit.
func underWay(t *testing.T, j *Journal, d report.Delivery, beside func(attempt int)) {
	t.Helper()
	var keys []report.Key
	for _, c := range d.Changes {
		keys = append(keys, c.Key)
	}
	entered, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	done := later(func(ctx context.Context) error {
		return j.queue.Do(ctx, &commit.Request{
			Kind: report.Cities, Keys: keys, Changes: d.Changes, Versions: len(d.Changes), Size: len(d.Changes), Sync: true,
			Task: task(func(tx *commit.Transaction) error {
				_, err := tx.Deliver(d, j.opt)
				if err == nil {
					entered <- struct{}{}
					<-goOn
				}
				return err
			}),
		})
	})
	for attempt := 1; ; attempt++ {
		select {
		case <-entered:
			beside(attempt)
			goOn <- struct{}{}
		case err := <-done:
			require.NoError(t, err)
			return
		}
	}
}

// largeCities returns new cities that all state a code.
func largeCities(more ...report.Change) report.Delivery {
	d := report.Delivery{Changes: more}
	for i := range commit.LargeRequest {
		d.Changes = append(d.Changes, city(report.ID(fmt.Sprint(1000+i)), journaltest.Code(i)))
	}
	return d
}

func city(id report.ID, code string) report.Change {
	return report.Change{Key: report.Key{Kind: report.Cities, ID: id}, OwnID: id, Op: report.Index, Code: code, Body: []byte("{}")}
}

// TestPostgresSmallBesideLarge: small deliveries are executed while a large one is under way that has the lock
// of names, those of another kind in this process as well, and in another process those of cities that need
// no such lock. What is of its kind comes after it in this process.
func TestPostgresSmallBesideLarge(t *testing.T) {
	url := postgrestest.URL(t)
	j, other := process(t, url, silent(), journal.Options{}), process(t, url, silent(), journal.Options{})
	deliver(t, j, report.Delivery{Changes: []report.Change{city("1000", ""), city("7", "OLD")}})
	known, err := j.Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	if len(known) != 2 {
		t.Fatalf("claimed %v, want both cities", known)
	}
	var common, settled <-chan error
	var newer report.Version
	underWay(t, j, largeCities(), func(attempt int) {
		if attempt > 1 {
			t.Error("the large delivery was executed again")
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), journaltest.Timeout)
		defer cancel()
		// Both wait in the queue, and do not delay later requests.
		common = later(func(ctx context.Context) error {
			stamps, err := j.Append(ctx, report.Delivery{Changes: []report.Change{city("1000", "")}})
			if err == nil {
				newer = stamps[0].Version
			}
			return err
		})
		settled = later(func(ctx context.Context) error {
			var list []report.Settlement
			for _, c := range known {
				list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
			}
			return j.Settle(ctx, list)
		})
		journaltest.Eventually(t, "they wait", func() bool { return j.queue.Len() == 2 })
		for what, d := range map[string]report.Delivery{
			"another kind":         journaltest.Put("a", "{}"),
			"a city that is there": {Changes: []report.Change{city("7", "OLD")}},
		} {
			if _, err := other.Append(ctx, d); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := j.Append(ctx, journaltest.Put("a", "{}"))
		require.NoError(t, err)
	})
	require.NoError(t, <-common)
	require.NoError(t, <-settled)
	if at := valueOf[int64](t, j, "SELECT version FROM documents WHERE kind = 'cities' AND id = '1000'"); at != int64(newer) {
		t.Errorf("the document of both deliveries has version %d, want that of the later one, %d", at, newer)
	}
	sumsHold(t, j, other)
}

// TestPostgresNamesChangeBesideLarge: another process delivers what has to do with a code that a large delivery
// has looked up and not committed yet.
func TestPostgresNamesChangeBesideLarge(t *testing.T) {
	for _, c := range []struct {
		name          string
		known         []report.Change
		large, beside report.Change
		want          string // which cities have the code LON in the end, in order
	}{
		{"a city known by the code alone comes", nil, city("130", "LON"), journaltest.PutCity("LON", "LON", "{}").Changes[0], "130"},
		{"another city comes", nil, report.Change{Key: report.Key{Kind: report.Cities, ID: "LON"}, Op: report.Index, Code: "LON", Body: []byte("{}")}, city("131", "LON"), "131"},
		{"another city takes it", []report.Change{city("131", "PAR")}, city("130", ""), city("131", "LON"), "131"},
		{"another city takes it from who kept it", []report.Change{city("130", "LON")}, city("130", ""), city("131", "LON"), "131"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := postgrestest.URL(t)
			j, other := process(t, url, silent(), journal.Options{}), process(t, url, silent(), journal.Options{})
			if len(c.known) > 0 {
				deliver(t, j, report.Delivery{Changes: c.known})
			}
			attempts := 0
			var answer <-chan error
			underWay(t, j, largeCities(c.large), func(attempt int) {
				if attempts = attempt; attempt > 1 {
					return
				}
				answer = later(func(ctx context.Context) error {
					_, err := other.Append(ctx, report.Delivery{Changes: []report.Change{c.beside}})
					return err
				})
				journaltest.Eventually(t, "it waits for the lock of names", func() bool { return len(answer) > 0 || waitsFor(t, j, "advisory") })
				if len(answer) > 0 {
					t.Error("it was accepted beside the large delivery")
				}
			})
			require.NoError(t, <-answer)
			got := valueOf[string](t, j, `SELECT coalesce(string_agg(encode(id, 'escape'), ' ' ORDER BY id), '') FROM documents
				WHERE kind = 'cities' AND code = 'LON' AND op = 'index' AND kept <> -1`)
			if got != c.want {
				t.Errorf("after %d attempts LON is %q, want %q", attempts, got, c.want)
			}
			sumsHold(t, j, other)
		})
	}
}

// TestPostgresLargeFindsAnOutage: only a large delivery fails because the server is away,
// and the journal finds out by itself when the server is back.
func TestPostgresLargeFindsAnOutage(t *testing.T) {
	server := postgrestest.Start(t)
	pace := hasty()
	pace.heartbeat = 0
	j := process(t, server.URL(), pace, journal.Options{})
	server.Kill()
	if _, err := j.Append(t.Context(), largeCities()); err == nil {
		t.Fatal("the delivery was accepted without the server")
	}
	require.NoError(t, server.Start(t.Context()))
	journaltest.Eventually(t, "it is ready again", func() bool { return j.Ready() == nil })
}

// TestPostgresHistoryOfLarge: a large delivery leaves what it replaces in the history.
func TestPostgresHistoryOfLarge(t *testing.T) {
	j := process(t, postgrestest.URL(t), silent(), journal.Options{History: time.Hour})
	before := city("1000", "")
	old := deliver(t, j, report.Delivery{Changes: []report.Change{before}})
	d := largeCities()
	d.Changes[0].Body = []byte(`"newer"`)
	deliver(t, j, d)
	if p, err := j.PastVersion(t.Context(), before.Key, old); err != nil || p.Lost != report.NotLost || string(p.Body) != string(before.Body) {
		t.Errorf("the history has %s, lost: %q, %v; want %s", p.Body, p.Lost, err, before.Body)
	}
}

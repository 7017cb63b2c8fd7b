package conformance

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// BenchmarkReads measures what is read while a journal runs: a page of the feed, of dead letters, of
// entries and of a history, one document, all records, and the stats.
func BenchmarkReads(b *testing.B) {
	const documents, page = 2000, 100
	benchmarkEngines(b, func(b *testing.B, open func(journal.Options) journal.Journal) {
		j := open(journal.Options{History: math.MaxInt64})
		ids := fill(b, j, documents)
		begin := report.Cursor{Kinds: []report.Kind{report.Advisories}}
		for name, read := range map[string]func(context.Context) (int, error){
			"feed": func(ctx context.Context) (int, error) {
				p, err := j.Feed(ctx, begin, page, 1<<20)
				return len(p.Changes), err
			},
			"letters": func(ctx context.Context) (int, error) {
				list, err := j.DeadLetters(ctx, report.Advisories, "", page)
				return len(list), err
			},
			"entries": func(ctx context.Context) (int, error) {
				list, err := j.Entries(ctx, report.Advisories, "", page)
				return len(list), err
			},
			"lookup": func(ctx context.Context) (int, error) {
				list, err := j.Lookup(ctx, report.Advisories, ids[:page])
				return len(list), err
			},
			"history": func(ctx context.Context) (int, error) {
				list, err := j.History(ctx, report.Key{Kind: report.Advisories, ID: ids[0]}, math.MaxInt64, page)
				return page - 2 + len(list), err
			},
			"document": func(ctx context.Context) (int, error) {
				d, err := j.Document(ctx, report.Advisories, ids[0])
				return page - 1 + len(d.ID)/len(ids[0]), err
			},
			"records": func(ctx context.Context) (n int, err error) {
				for _, err := range j.Records(ctx, report.Advisories) {
					if err != nil {
						return 0, err
					}
					n++
				}
				return n / (documents / page), nil
			},
			"stats": func(ctx context.Context) (int, error) {
				s, err := j.Stats(ctx)
				return s.Kinds[report.Advisories].DeadLetters / (documents / page), err
			},
		} {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					if n, err := read(b.Context()); err != nil || n != page {
						b.Fatalf("read %d, %v; want %d", n, err, page)
					}
				}
			})
		}
	})
}

// fill delivers documents of 4 KB twice, and makes all of them dead letters.
func fill(b *testing.B, j journal.Journal, documents int) (ids []report.ID) {
	for range 2 {
		ids = nil
		for i := range documents {
			d := journaltest.Put(fmt.Sprintf("%05d", i), fmt.Sprintf(`{"text": %q}`, strings.Repeat("a word ", 600)))
			ids = append(ids, d.Changes[0].ID)
			if i%100 > 0 {
				continue
			}
			for n := i + 1; n < i+100; n++ {
				d.Changes = append(d.Changes, journaltest.Put(fmt.Sprintf("%05d", n), string(d.Changes[0].Body)).Changes...)
			}
			_, err := j.Append(b.Context(), d)
			require.NoError(b, err)
		}
	}
	for {
		changes, err := j.Claim(b.Context(), report.Advisories, 500, 10<<20)
		require.NoError(b, err)
		if len(changes) == 0 {
			return ids
		}
		var list []report.Settlement
		for _, c := range changes {
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Dead, Reason: "mapper_parsing_exception"})
		}
		require.NoError(b, j.Settle(b.Context(), list))
	}
}

package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// BenchmarkQuota measures what the limits add to an append: without any, with the reserve
// of the disk, and with both.
func BenchmarkQuota(b *testing.B) {
	for name, opt := range map[string]journal.Options{
		"none": {MinFree: -1},
		"disk": {MinFree: 1},
		"both": {MinFree: 1, MaxBytes: 1 << 40},
	} {
		b.Run(name, func(b *testing.B) {
			j, err := open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), commit.WithDefaults(opt))
			if err != nil {
				b.Fatal(err)
			}
			go j.run()
			b.Cleanup(func() { _ = j.Close() })
			body := body4K()
			b.ResetTimer()
			for n := range b.N {
				key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(n % 1000))}
				d := report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: body}}}
				if _, err := j.Append(context.Background(), d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckQuota measures the check alone, without its effect on others.
func BenchmarkCheckQuota(b *testing.B) {
	j, err := open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), commit.WithDefaults(journal.Options{MinFree: 1, MaxBytes: 1 << 40}))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := j.checkQuota(4096); err != nil {
			b.Fatal(err)
		}
	}
	go j.run()
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

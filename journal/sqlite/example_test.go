package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// A delivery is durable when Append returns. The indexer claims it, and settles it by
// what became of it in the index.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	j, err := sqlite.Open(ctx, filepath.Join(folder, "riskdex.db"), journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()

	london := report.Key{Kind: report.Cities, ID: "130"}
	for _, body := range []string{`{"id": 130, "title": "London"}`, `{"id": 130, "title": "London, corrected"}`} {
		change := report.Change{Key: london, Op: report.Index, Code: "LON", OwnID: "130", Body: []byte(body)}
		if _, err := j.Append(ctx, report.Delivery{Changes: []report.Change{change}}); err != nil {
			log.Fatal(err)
		}
	}

	claimed, err := j.Claim(ctx, report.Cities, 1000, 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range claimed {
		fmt.Printf("%s %s: %s\n", c.Kind, c.ID, c.Body)
		if err := j.Settle(ctx, []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: report.Indexed}}); err != nil {
			log.Fatal(err)
		}
	}
	stats, err := j.Stats(ctx)
	if err != nil {
		log.Fatal(err)
	}
	cities := stats.Kinds[report.Cities]
	fmt.Printf("%d pending\n", cities.Pending)
	// Output:
	// cities 130: {"id": 130, "title": "London, corrected"}
	// 0 pending
}

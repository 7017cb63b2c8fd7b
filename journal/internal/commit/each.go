package commit

import (
	"context"
	"fmt"

	"riskdex/report"
)

// MaxBatch is how many documents one request to the writer changes at most, so that
// a long list does not hold up deliveries.
const MaxBatch = 500

// changer does something to a document whose newest version has a content, and
// reports whether it did.
type changer func(*Transaction, Content, *Row) (bool, error)

// forEach has change called, in durable transactions, with each of stamps that is the newest
// version of its document, and returns for how many it did something.
func (j *Requests) forEach(ctx context.Context, stamps []report.Stamp, n Quota, change changer) (sum int, err error) {
	for _, s := range stamps {
		if err := CheckKey(s.Key); err != nil {
			return 0, fmt.Errorf("%s %q: %w", s.Kind, s.ID, err)
		}
	}
	for len(stamps) > 0 {
		list, rest, err := j.hooks.Contents(ctx, stamps, j.logUnreadable)
		if err != nil {
			return sum, err
		}
		size, keys := 0, make([]report.Key, len(list))
		for i, c := range list {
			keys[i] = c.Key
			size += len(c.Body)
		}
		t := &ForEach{List: list, Change: change}
		if err := j.queue.Do(ctx, &Request{Task: t, Kind: stamps[0].Kind, Keys: keys, Bytes: size, Size: len(list), Sync: true, Quota: n}); err != nil {
			return sum, err
		}
		sum += t.Changed
		stamps = rest
	}
	return sum, nil
}

// ForEach is the task of changing every document of a list that still has the version that is stated there.
type ForEach struct {
	List   []Content
	Change changer

	Changed int // how many it changed
}

// Execute implements Task.
func (t *ForEach) Execute(tx *Transaction) error {
	t.Changed = 0
	for _, c := range t.List {
		r, err := tx.Find(c.Key)
		if err != nil {
			return err
		}
		if r == nil || r.Version != c.Version {
			continue
		}
		changed, err := t.Change(tx, c, r)
		if err != nil {
			return fmt.Errorf("%s %q: %w", c.Kind, c.ID, err)
		}
		if changed {
			t.Changed++
		}
	}
	return nil
}

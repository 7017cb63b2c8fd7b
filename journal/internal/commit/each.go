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
		list, rest, err := j.hooks.Contents(ctx, stamps)
		if err != nil {
			return sum, err
		}
		size, keys := 0, make([]report.Key, len(list))
		for i, c := range list {
			keys[i] = c.Key
			size += len(c.Body)
		}
		t := &changeEach{list: list, change: change}
		if err := j.queue.Do(ctx, &Request{Task: t, Kind: stamps[0].Kind, Keys: keys, Bytes: size, Size: len(list), Sync: true, Quota: n}); err != nil {
			return sum, err
		}
		sum += t.changed
		stamps = rest
	}
	return sum, nil
}

// changeEach is the task of forEach.
type changeEach struct {
	list   []Content
	change changer

	changed int
}

// Execute implements Task.
func (t *changeEach) Execute(tx *Transaction) (err error) {
	t.changed, err = tx.ForEach(t.list, t.change)
	return err
}

// ForEach calls change for every document of the list that still has the version that is
// stated there, and returns how many it changed.
func (tx *Transaction) ForEach(list []Content, change changer) (n int, err error) {
	for _, c := range list {
		r, err := tx.Find(c.Key)
		if err != nil {
			return 0, err
		}
		if r == nil || r.Version != c.Version {
			continue
		}
		changed, err := change(tx, c, r)
		if err != nil {
			return 0, fmt.Errorf("%s %q: %w", c.Kind, c.ID, err)
		}
		if changed {
			n++
		}
	}
	return n, nil
}

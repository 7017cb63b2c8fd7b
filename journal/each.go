package journal

import (
	"context"
	"fmt"

	"riskdex/report"
)

// batch is how many documents one request to the writer changes at most, so that
// a long list does not hold up deliveries.
const batch = 500

// changer does something to a document whose newest version has a content, and
// tells whether it did.
type changer func(*transaction, content, *row) (bool, error)

// forEach has the writer call change with each of stamps that is the newest version
// of its document, durably, and returns how often it did something.
func (j *requests) forEach(ctx context.Context, stamps []report.Stamp, n need, change changer) (sum int, err error) {
	for _, s := range stamps {
		if err := checkKey(s.Key); err != nil {
			return 0, fmt.Errorf("%s %q: %w", s.Kind, s.ID, err)
		}
	}
	for len(stamps) > 0 {
		list, rest, err := j.contents(ctx, stamps)
		if err != nil {
			return sum, err
		}
		size, keys := 0, make([]report.Key, len(list))
		for i, c := range list {
			keys[i] = c.Key
			size += len(c.Body)
		}
		var done int
		if err := j.queue.do(ctx, &request{keys: keys, bytes: size, size: len(list), sync: true, need: n, run: func(tx *transaction) (err error) {
			done, err = tx.forEach(list, change)
			return err
		}}); err != nil {
			return sum, err
		}
		sum += done
		stamps = rest
	}
	return sum, nil
}

func (tx *transaction) forEach(list []content, change changer) (n int, err error) {
	for _, c := range list {
		r, err := tx.store.find(c.Key)
		if err != nil {
			return 0, err
		}
		if r == nil || r.version != c.Version {
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

package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"maps"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// copied is what was read of a journal: its records are counted and summed up while
// they go through.
type copied struct {
	head                          Head
	docs, refused, received, past tally
	damaged                       int64
	named                         []report.Key
	progress                      func(done int64)
	shown                         int64 // of docs.bytes, when progress was last called
}

func newCopied(ctx context.Context, s Source) (*copied, error) {
	head, err := s.Head(ctx)
	return &copied{head: head, docs: newTally(), refused: newTally(), received: newTally(), past: newTally(), progress: func(int64) {}}, err
}

// tally counts records and has a checksum over all of them.
type tally struct {
	count, bytes int64
	sum          hash.Hash
	buffer       []byte
}

func newTally() tally { return tally{sum: sha256.New()} }

// add takes a record in. Each text is preceded by its length, as in checksum.
func (t *tally) add(numbers []int64, texts []string, body []byte) {
	t.count++
	t.bytes += int64(len(body))
	b := t.buffer[:0]
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, s := range texts {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	t.sum.Write(b)
	t.sum.Write(body)
	t.buffer = b
}

// Progress is told every so many documents, or bytes of them.
const (
	shownDocuments = 500
	shownBytes     = 4 << 20
)

// documents lets through only what comes in its order, each document once: an index
// that is out of order may have lost some.
func (c *copied) documents(records iter.Seq2[Document, error]) iter.Seq2[Document, error] {
	var last report.Key
	return Through(records, func(d Document) error {
		if c.docs.count > 0 && commit.CompareKeys(last, d.Key) >= 0 {
			return fmt.Errorf("%s %q comes after %s %q: the index of documents is damaged; restore a backup", d.Kind, d.ID, last.Kind, last.ID)
		}
		last = d.Key
		c.docs.add(d.fields())
		if !d.intact() {
			if c.damaged++; len(c.named) < commit.MaxNamed {
				c.named = append(c.named, d.Key)
			}
		}
		if c.docs.count%shownDocuments == 0 || c.docs.bytes-c.shown >= shownBytes {
			c.shown = c.docs.bytes
			c.progress(c.docs.count)
		}
		return nil
	})
}

func (c *copied) refusals(records iter.Seq2[Refusal, error]) iter.Seq2[Refusal, error] {
	return Through(records, func(r Refusal) error {
		c.refused.add(r.fields())
		return nil
	})
}

func (c *copied) receipts(records iter.Seq2[Receipt, error]) iter.Seq2[Receipt, error] {
	return Through(records, func(r Receipt) error {
		c.received.add(r.fields())
		return nil
	})
}

func (c *copied) history(records iter.Seq2[Past, error]) iter.Seq2[Past, error] {
	return Through(records, func(r Past) error {
		c.past.add(r.fields())
		return nil
	})
}

// Through has see look at each record that passes, and ends with the first error.
func Through[T any](records iter.Seq2[T, error], see func(T) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range records {
			if err == nil {
				err = see(r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// complete reports whether all documents that are there went through.
func (c *copied) complete() error {
	c.progress(c.docs.count)
	if c.docs.count != c.head.Documents {
		return fmt.Errorf("of %d documents %d could be found: the index of documents is damaged; restore a backup", c.head.Documents, c.docs.count)
	}
	return nil
}

// compare returns an error that says where c, which was read from the copy, is other
// than what was copied.
func (c *copied) compare(had *copied) error {
	var differ []string
	for _, t := range []struct {
		what      string
		has, want tally
	}{{"documents", c.docs, had.docs}, {"refusals", c.refused, had.refused}, {"receipts", c.received, had.received}, {"entries of the history", c.past, had.past}} {
		if t.has.count != t.want.count {
			differ = append(differ, fmt.Sprintf("it has %d %s of %d", t.has.count, t.what, t.want.count))
		} else if !bytes.Equal(t.has.sum.Sum(nil), t.want.sum.Sum(nil)) {
			differ = append(differ, fmt.Sprintf("the %s have another checksum", t.what))
		}
	}
	if !maps.Equal(nonzero(c.head.Totals), nonzero(had.head.Totals)) {
		differ = append(differ, fmt.Sprintf("the totals are %v instead of %v", c.head.Totals, had.head.Totals))
	}
	if c.head.Line != had.head.Line {
		differ = append(differ, "it has another line")
	}
	if c.head.Loss != had.head.Loss {
		differ = append(differ, "it says something else of what is lost")
	}
	if !maps.Equal(c.head.Notes, had.head.Notes) {
		differ = append(differ, "it has other notes")
	}
	// Tables that were there before may have given out higher ones.
	if c.head.Last < had.head.Last || c.head.LastRefusal < had.head.LastRefusal {
		differ = append(differ, "it would give out versions, or numbers of refusals, a second time")
	}
	if len(differ) > 0 {
		return errors.New("it differs from the journal, and was not kept: " + strings.Join(differ, "; "))
	}
	return nil
}

// nonzero leaves out the kinds of which there was nothing yet: they need not have a row.
func nonzero(all map[report.Kind]commit.Totals) map[report.Kind]commit.Totals {
	some := maps.Clone(all)
	maps.DeleteFunc(some, func(_ report.Kind, t commit.Totals) bool { return t == commit.Totals{} })
	return some
}

func (c *copied) report() Report {
	whole := sha256.New()
	for _, t := range []tally{c.docs, c.refused, c.received, c.past} {
		whole.Write(t.sum.Sum(nil))
	}
	r := Report{
		Documents: c.docs.count, Refusals: c.refused.count, Receipts: c.received.count, History: c.past.count, Bytes: c.docs.bytes + c.refused.bytes,
		LastVersion: c.head.Last, Checksum: hex.EncodeToString(whole.Sum(nil)), Damaged: c.damaged, Named: c.named,
	}
	r.Loss = c.head.Loss.Report()
	return r
}

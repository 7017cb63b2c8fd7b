package transfer

import (
	"bytes"
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
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// copied is what was read of a journal: its rows are counted and summed up while they go through.
type copied struct {
	head     tables.Head
	tallies  map[string]*tally // by the names of tables
	last     report.Key
	damaged  int64
	named    []report.Key
	progress func(done int64)
	shown    int64 // of the bytes of documents, when progress was last called
}

func newCopied(head tables.Head, progress func(done int64)) *copied {
	c := &copied{head: head, tallies: map[string]*tally{}, progress: progress}
	for _, t := range tables.Dumped {
		c.tallies[t.Name] = &tally{sum: sha256.New()}
	}
	return c
}

// tally counts rows and has a checksum over all of them.
type tally struct {
	count, bytes int64
	sum          hash.Hash
	buffer       []byte
}

// add takes a row in. Each text is preceded by its length, as in commit.Checksum.
func (t *tally) add(r tables.Row) {
	t.count++
	b := t.buffer[:0]
	for _, v := range r {
		switch v := v.(type) {
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case bool:
			b = fmt.Append(b, v)
		case string:
			b = append(binary.BigEndian.AppendUint64(b, uint64(len(v))), v...)
		case []byte:
			t.bytes += int64(len(v))
			b = binary.BigEndian.AppendUint64(b, uint64(len(v)))
			t.sum.Write(b)
			t.sum.Write(v)
			b = b[:0]
		}
	}
	t.sum.Write(b)
	t.buffer = b
}

// Progress is told every so many documents, or bytes of them.
const (
	shownDocuments = 500
	shownBytes     = 4 << 20
)

// rows counts the rows of a table that it lets through.
func (c *copied) rows(t *tables.Table, rows iter.Seq2[tables.Row, error]) iter.Seq2[tables.Row, error] {
	return func(yield func(tables.Row, error) bool) {
		for r, err := range rows {
			if err == nil {
				c.tallies[t.Name].add(r)
				if t.Name == "documents" {
					err = c.look(r)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// look lets through only what comes in its order, each document once: an index that is out of order may
// have lost some. It counts what is damaged, and tells the progress.
func (c *copied) look(r tables.Row) error {
	d, intact := tables.Content(r)
	all := c.tallies["documents"]
	if all.count > 1 && commit.CompareKeys(c.last, d.Key) >= 0 {
		return fmt.Errorf("%s %q comes after %s %q: the index of documents is damaged; restore a backup", d.Kind, d.ID, c.last.Kind, c.last.ID)
	}
	c.last = d.Key
	if !intact {
		if c.damaged++; len(c.named) < commit.MaxNamed {
			c.named = append(c.named, d.Key)
		}
	}
	if all.count%shownDocuments == 0 || all.bytes-c.shown >= shownBytes {
		c.shown = all.bytes
		c.progress(all.count)
	}
	return nil
}

// complete reports whether all documents that are there went through.
func (c *copied) complete() error {
	n := c.tallies["documents"].count
	c.progress(n)
	if n != c.head.Documents {
		return fmt.Errorf("of %d documents %d could be found: the index of documents is damaged; restore a backup", c.head.Documents, n)
	}
	return nil
}

// compare returns an error that says where c, which was read from the copy, is other
// than what was copied.
func (c *copied) compare(had *copied) error {
	var differ []string
	for _, t := range tables.Dumped {
		has, want := c.tallies[t.Name], had.tallies[t.Name]
		if has.count != want.count {
			differ = append(differ, fmt.Sprintf("it has %d %s of %d", has.count, t.Many, want.count))
		} else if !bytes.Equal(has.sum.Sum(nil), want.sum.Sum(nil)) {
			differ = append(differ, fmt.Sprintf("the %s have another checksum", t.Many))
		}
	}
	if !maps.Equal(c.head.Totals, had.head.Totals) {
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

func (c *copied) report() Report {
	whole := sha256.New()
	for _, t := range tables.Dumped {
		whole.Write(c.tallies[t.Name].sum.Sum(nil))
	}
	documents, refusals := c.tallies["documents"], c.tallies["refusals"]
	return Report{
		Documents: documents.count, Refusals: refusals.count, Receipts: c.tallies["receipts"].count, History: c.tallies["history"].count,
		Bytes: documents.bytes + refusals.bytes, LastVersion: c.head.Last, Checksum: hex.EncodeToString(whole.Sum(nil)),
		Damaged: c.damaged, Named: c.named, Loss: c.head.Loss.Report(),
	}
}

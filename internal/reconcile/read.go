package reconcile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/exportline"
	"riskdex/receiver"
	"riskdex/report"
)

// The bounds of reading: one value of JSON, such as an envelope with all its records, and how
// much is parsed at once of what is in a list or in lines.
const (
	longestValue = 256 << 20
	chunkBytes   = 4 << 20
	chunkRecords = 10_000
)

// Read reads a list: ids, one per line or as JSON; records as the POSTs of the kind have them,
// in an array, in envelopes or one after the other; or lines of an export, of which those of
// other kinds are left out. An array may be of any length. progress, if not nil, is called with
// how many bytes were read. Whatever is not whole is an error.
func Read(in io.Reader, kind report.Kind, payloads *receiver.Reader, progress func(bytes int64)) (*List, error) {
	return read(&source{in: in, longest: longestValue, progress: progress}, kind, payloads)
}

func read(s *source, kind report.Kind, payloads *receiver.Reader) (*List, error) {
	r := &reader{list: newList(kind), payloads: payloads, source: s}
	buffered := bufio.NewReaderSize(s, 1<<16)
	first, blank, err := firstByte(buffered)
	if err != nil {
		return nil, err
	}
	switch first {
	case '[', '{', '"':
		err = r.values(buffered)
	default:
		err = r.lines(buffered, blank)
	}
	if err != nil {
		return nil, err
	}
	if l := r.list; l.feed.lines {
		l.doubt(l.feed.missing())
	} else if l.Repeated > 0 {
		l.doubt("the list has " + word(l.twice) + " twice, as where pages shift while they are read, and others are left out:" +
			" make it anew")
	}
	return r.list, r.list.check()
}

// check returns an error if there is no document in a list.
func (l *List) check() error {
	switch {
	case l.Len() > 0:
		return nil
	case l.Unread > 0:
		return fmt.Errorf("no id could be read in it; the first of %s: %s", humanize.Comma(int64(l.Unread)), l.Why)
	}
	return fmt.Errorf("there are no %s in it", l.Kind)
}

// firstByte skips a byte order mark and white space, and returns the byte that follows, or 0, and
// how many line breaks were before it.
func firstByte(in *bufio.Reader) (c byte, blank int, err error) {
	mark, err := in.Peek(3)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return 0, 0, err
	case string(mark) == "\xef\xbb\xbf":
		_, _ = in.Discard(3)
	}
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, blank, nil
		case err != nil:
			return 0, blank, err
		case c == '\n':
			blank++
		case bytes.IndexByte([]byte(" \t\r"), c) < 0:
			return c, blank, in.UnreadByte()
		}
	}
}

// source counts what is read, and bounds how much of it is for one value.
type source struct {
	in       io.Reader
	longest  int64 // of a value
	bytes    int64
	value    int64 // of bytes, since the last value ended
	last     byte
	progress func(int64)
}

func (s *source) Read(p []byte) (int, error) {
	if s.bytes-s.value > s.longest {
		return 0, fmt.Errorf("one value in it is longer than %s: give an array of records, or one in each line", humanize.IBytes(uint64(s.longest)))
	}
	n, err := s.in.Read(p)
	if n > 0 {
		s.last = p[n-1]
	}
	if s.bytes += int64(n); s.progress != nil {
		s.progress(s.bytes)
	}
	return n, err
}

// reader fills a list.
type reader struct {
	list     *List
	payloads *receiver.Reader
	source   *source

	ids, records int
	chunk        []byte // of records
	chunked      int    // records in it
}

// lines reads ids, one in each line, after so many blank ones.
func (r *reader) lines(in *bufio.Reader, blank int) error {
	r.list.unread(blank, fmt.Sprintf("line 1: %v", report.ErrIDEmpty))
	for n := 1 + blank; ; n++ {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err != nil {
				r.list.doubt(cut)
			}
			id, wrong := report.ParseID(string(bytes.TrimSpace(line)))
			if long {
				wrong = report.ErrIDTooLong
			}
			if wrong != nil {
				r.list.unread(1, fmt.Sprintf("line %d: %v", n, wrong))
			} else {
				r.list.addName(id)
			}
		}
		if err != nil {
			return nil
		}
		r.source.value = r.source.bytes
	}
}

// cut is the doubt about a list that may have been longer.
const cut = "the last line of the list has no end, so it may be cut: if it is whole, add a line break"

// values reads values of JSON, one after the other. The elements of an array are values, too.
func (r *reader) values(in io.Reader) error {
	d := jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	n := 0
	for ; ; n++ {
		kind := d.PeekKind()
		if kind != '[' {
			v, err := d.ReadValue()
			if errors.Is(err, io.EOF) && n > 0 {
				break
			}
			if err == nil {
				err = r.value(v)
			}
			if err != nil {
				return r.broken(err)
			}
			continue
		}
		if _, err := d.ReadToken(); err != nil {
			return r.broken(err)
		}
		r.list.arrays++
		for d.PeekKind() != ']' {
			v, err := d.ReadValue()
			if err == nil {
				err = r.value(v)
			}
			if err != nil {
				return r.broken(err)
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return r.broken(err)
		}
	}
	r.list.Records = r.records > 0
	err := r.flush()
	switch {
	case n > 1 && r.list.arrays > 0:
		r.list.doubt("the list is several lists, each of which may be a page: make one array of all pages, as jq -s add does")
	case n > 1 && r.source.last != '\n':
		r.list.doubt(cut)
	}
	return err
}

// broken returns the error for a list that cannot be read to its end.
func (r *reader) broken(err error) error {
	where := fmt.Sprintf("after %s", humanize.Comma(int64(r.ids+r.records)))
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("it breaks off %s, so it is not whole", where)
	}
	return fmt.Errorf("%w (%s)", err, where)
}

// value takes one value: an id, or a record or an envelope of records.
func (r *reader) value(v jsontext.Value) error {
	r.source.value = r.source.bytes
	if c := v.Kind(); c != '{' && c != '[' {
		id, ok := receiver.IDText(v)
		if !ok {
			r.list.unread(1, fmt.Sprintf("%.100s is not an id", v))
			return nil
		}
		r.ids++
		r.list.addName(id)
		return r.mixed()
	}
	r.records++
	if l, ok := exported(v); ok {
		r.list.addExported(l)
		return r.mixed()
	}
	if r.list.feed.add(v) {
		return r.mixed()
	}
	if r.chunked > 0 {
		r.chunk = append(r.chunk, ',')
	}
	r.chunk = append(r.chunk, v...)
	if r.chunked++; r.chunked == chunkRecords || len(r.chunk) >= chunkBytes {
		return r.flush()
	}
	return r.mixed()
}

func (r *reader) mixed() error {
	if r.ids > 0 && r.records > 0 {
		return errors.New("it has both ids and records, so it is not known what it is")
	}
	return nil
}

// exported returns the line of an export, if a value is one.
func exported(v jsontext.Value) (exportline.Line, bool) {
	if !bytes.Contains(v[:min(len(v), 16)], []byte(`"kind"`)) {
		return exportline.Line{}, false
	}
	l, err := exportline.ParseVersion(v)
	return l, err == nil
}

// flush parses the records that were collected, as the receiver does.
func (r *reader) flush() error {
	if r.chunked == 0 {
		return nil
	}
	body := r.chunk
	if r.chunked > 1 {
		body = append(append([]byte{'['}, body...), ']')
	}
	err := r.list.addRecords(r.payloads, body, r.chunked)
	r.chunk, r.chunked = r.chunk[:0], 0
	if cap(r.chunk) > 2*chunkBytes {
		r.chunk = nil
	}
	return err
}

// addRecords adds the records of the body of a POST, which has at least so many.
func (l *List) addRecords(payloads *receiver.Reader, body []byte, atLeast int) error {
	changes, refused, why, err := payloads.Records(l.Kind, body)
	if p, ok := errors.AsType[*receiver.RefusedError](err); ok && p.NoID() {
		l.unread(atLeast, p.Detail)
		return nil
	}
	if err != nil {
		return err
	}
	records := 0
	for _, c := range changes {
		l.addChange(c)
		records += len(c.Body)
	}
	l.unread(refused, why)
	if atLeast == 1 && records < len(bytes.TrimSpace(body)) {
		l.arrays++
	}
	if refused == 0 && !onlyRecords(body, records) {
		l.doubt("the records are in an object that has more than them, which may say that it is a page: " + unwrap(body))
	}
	return nil
}

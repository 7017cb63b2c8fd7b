package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/exportline"
	"riskdex/internal/push"
	"riskdex/internal/reconcile"
	"riskdex/receiver"
	"riskdex/report"
)

type reconcileCommand struct {
	adminSettings
	deliverySettings
	removalSettings
	payloadSettings
	Kind    string `arg:"" enum:"cities,advisories,special-reports" help:"The kind of the documents: cities, advisories or special-reports."`
	List    string `arg:"" name:"list" help:"What the publisher has now: a file of ids, one per line or as a JSON array; of records, as POST takes them, or one after the other; an export of riskdex, or all of its changes --json; a folder as push takes it; or - for standard input."`
	IDsOnly bool   `name:"ids-only" help:"Compare ids, and not the contents of records."`
	Delete  bool   `name:"delete" help:"Remove what is here and not in the list, by DELETEs to the receiver."`
	JSON    bool   `name:"json" help:"Print one JSON object per document that differs or is removed, and a summary."`
}

// Run compares a list of the publisher with the documents of riskdex. It returns errNegative if
// a difference remains.
func (c *reconcileCommand) Run(ctx context.Context, io streams, in input) error {
	start := time.Now()
	if c.Delete {
		if err := c.canAsk(in, c.List == "-"); err != nil {
			return err
		}
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	p := newProgress(io.err)
	list, made, err := c.read(ctx, in, start, p)
	p.clear()
	if err != nil {
		return fmt.Errorf("read the list %s: %w", c.List, err)
	}
	if c.IDsOnly {
		list.Records = false
	}
	r := &reconciliation{removalSettings: c.removalSettings, io: io, json: c.JSON, start: start, progress: p}
	if err := r.compare(ctx, client, list, made); err != nil {
		return err
	}
	r.printFound()
	if c.Delete {
		err = r.remove(ctx, in, c.deliverySettings)
	}
	return cmp.Or(err, r.end())
}

// read returns the list, and when it was made.
func (c *reconcileCommand) read(ctx context.Context, in input, start time.Time, p *progress) (*reconcile.List, time.Time, error) {
	payloads, err := c.reader()
	if err != nil {
		return nil, start, err
	}
	kind := report.Kind(c.Kind)
	show := func(bytes int64) { p.show("reading the list: " + humanize.IBytes(uint64(bytes))) } // #nosec G115 -- a count
	if c.List == "-" {
		list, err := reconcile.Read(untilDone{ctx, in}, kind, payloads, show)
		return list, start, err
	}
	f, err := os.Open(c.List)
	if err != nil {
		return nil, start, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, start, err
	}
	if info.IsDir() {
		return c.readFolder(kind, payloads)
	}
	list, err := reconcile.Read(untilDone{ctx, f}, kind, payloads, show)
	if !info.Mode().IsRegular() {
		return list, start, err
	}
	return list, info.ModTime(), err
}

// untilDone is a reader that ends with its context, even while a read waits for a person to
// type.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := r.in.Read(own)
		done <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case got := <-done:
		return copy(p, own[:got.n]), got.err
	}
}

func (c *reconcileCommand) readFolder(kind report.Kind, payloads *receiver.Reader) (*reconcile.List, time.Time, error) {
	made, err := newestIn(c.List)
	if err != nil {
		return nil, made, err
	}
	requests, err := push.FromDir(os.DirFS(c.List))
	if err != nil {
		return nil, made, err
	}
	list, err := reconcile.FromRequests(requests, kind, payloads)
	if err == nil && list == nil {
		err = fmt.Errorf("there are no %s in it", kind)
	}
	return list, made, err
}

// reader returns a reader that parses payloads as the receiver does.
func (s payloadSettings) reader() (*receiver.Reader, error) {
	cfg := receiver.DefaultConfig()
	if err := s.addTo(&cfg); err != nil {
		return nil, err
	}
	return receiver.NewReader(cfg)
}

// newestIn returns when a folder or anything in it was last modified.
func newestIn(dir string) (newest time.Time, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	})
	return newest, err
}

// reconciliation compares lists, one for each kind, with the documents of riskdex, and removes
// the surplus.
type reconciliation struct {
	removalSettings
	io       streams
	json     bool
	start    time.Time // of the command
	progress *progress
	kinds    []*reconciled
}

// reconciled is the result for one kind.
type reconciled struct {
	*reconcile.Comparison
	list *reconcile.List
	asOf time.Time
	done removed
}

// compare compares a list, which was made at a given time, with the documents of riskdex.
func (r *reconciliation) compare(ctx context.Context, client *adminClient, list *reconcile.List, made time.Time) error {
	defer r.progress.clear()
	asked := time.Now()
	res, err := client.open(ctx, http.MethodGet, "/api/export", query("kind", string(list.Kind), "versions", "true"), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	asOf := time.Time(r.AsOf)
	if asOf.IsZero() {
		asOf = r.byTheirClock(made, asked, res.Header.Get("Date"))
	}
	k := &reconciled{Comparison: reconcile.Compare(list, asOf), list: list, asOf: asOf}
	lines := bufio.NewReaderSize(res.Body, 1<<20)
	var line []byte
	for {
		if line, err = readWhole(lines, line[:0]); err != nil {
			break
		}
		l, err := exportline.ParseVersion(line)
		if err != nil {
			return fmt.Errorf("what riskdex says of a document cannot be read: %w", err)
		}
		k.Add(l)
		r.progress.show(fmt.Sprintf("comparing: %s", count(k.Here, "document", "documents")))
	}
	if !errors.Is(err, io.EOF) || len(line) > 0 {
		return fmt.Errorf("riskdex broke off after %s: %w; its log says more", count(k.Here, "document", "documents"), err)
	}
	if err := whole(res, k.Here); err != nil {
		return err
	}
	k.End()
	r.kinds = append(r.kinds, k)
	looked := 0
	return k.Explain(mostExplained, func(f *reconcile.Finding) error {
		looked++
		r.progress.show("looking up what is missing: " + humanize.Comma(int64(looked)))
		var d admin.Document
		err := client.ask(ctx, http.MethodGet, "/api/document", query("kind", string(f.Kind), "id", string(f.ID), "journal_only", "true"), nil, &d)
		f.AcceptedAt, f.Deleted = d.AcceptedAt, d.Op == report.Delete
		if len(d.Refused) > 0 {
			f.Refused = d.Refused[0].Number
		}
		return err
	})
}

// mostExplained bounds how many missing documents are looked up.
const mostExplained = 1000

// byTheirClock converts a time of this machine to the clock by which riskdex accepts, or to an
// earlier time, if that clock is behind. Otherwise a delivery could seem older than the list. date
// is the Date of an export, which is by that clock, and was asked for at asked.
func (r *reconciliation) byTheirClock(made, asked time.Time, date string) time.Time {
	if made.After(r.start) {
		made = r.start
	}
	there, err := http.ParseTime(date)
	if err == nil && there.Add(time.Second).Before(asked) { // Date has whole seconds
		made = made.Add(-time.Since(there))
	}
	return made
}

// readWhole appends the next line, with its end.
func readWhole(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// whole returns an error unless the trailers of an export with versions state this number of
// lines.
func whole(res *http.Response, lines int) error {
	told := 0
	for _, name := range []string{admin.TrailerRecords, admin.TrailerDamaged, admin.TrailerDropped} {
		n, err := strconv.Atoi(res.Trailer.Get(name))
		if err != nil {
			return errors.New("the answer does not say at its end how many documents it has, so it may be cut: a proxy between drops HTTP trailers")
		}
		told += n
	}
	if told != lines {
		return fmt.Errorf("%d documents came of %d", lines, told)
	}
	return nil
}

// end prints the summary as JSON, and returns errNegative if a difference remains.
func (r *reconciliation) end() error {
	if r.json {
		if err := r.printSummaries(); err != nil {
			return err
		}
	}
	for _, k := range r.kinds {
		if k.Count(reconcile.Missing)+k.Count(reconcile.Differs)+k.Count(reconcile.Ambiguous)+k.list.Unread > 0 || k.Count(reconcile.Surplus) > k.done.absent() {
			return errNegative
		}
	}
	return nil
}

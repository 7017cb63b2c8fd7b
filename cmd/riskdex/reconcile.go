package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"

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
	client, err := c.client(io)
	if err != nil {
		return err
	}
	p := newProgress(io.err)
	list, err := c.read(ctx, in, p)
	p.clear()
	if err != nil {
		return fmt.Errorf("read the list %s: %w", c.List, err)
	}
	if c.IDsOnly {
		list.Records = false
	}
	r := &reconciliation{removalSettings: c.removalSettings, io: io, json: c.JSON, removes: c.Delete, progress: p}
	if err := r.compare(ctx, client, list); err != nil {
		return err
	}
	r.printFound()
	if c.Delete {
		err = r.remove(ctx, in, c.List != "-" && in.isTerminal(), c.deliverySettings)
	}
	return cmp.Or(err, r.printSummaries(), r.end())
}

// read returns the list.
func (c *reconcileCommand) read(ctx context.Context, in input, p *progress) (*reconcile.List, error) {
	payloads, err := c.reader()
	if err != nil {
		return nil, err
	}
	kind := report.Kind(c.Kind)
	show := func(bytes int64) { p.show("reading the list: " + humanize.IBytes(uint64(bytes))) } // #nosec G115 -- a count
	if c.List == "-" {
		return reconcile.Read(untilDone{ctx, in}, kind, payloads, show)
	}
	f, err := os.Open(c.List)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return reconcile.Read(untilDone{ctx, f}, kind, payloads, show)
	}
	requests, err := push.FromDir(os.DirFS(c.List))
	if err != nil {
		return nil, err
	}
	list, err := reconcile.FromRequests(requests, kind, payloads)
	if err == nil && list == nil {
		err = fmt.Errorf("there are no %s in it", kind)
	}
	return list, err
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

// reader returns a reader that parses payloads as the receiver does.
func (s payloadSettings) reader() (*receiver.Reader, error) {
	cfg := receiver.DefaultConfig()
	if err := s.addTo(&cfg); err != nil {
		return nil, err
	}
	return receiver.NewReader(cfg)
}

// reconciliation compares lists, one for each kind, with the documents of riskdex, and removes
// the surplus.
type reconciliation struct {
	removalSettings
	io        streams
	json      bool
	removes   bool // what is surplus is to be removed
	delivered bool // what is in the lists was delivered just now
	progress  *progress
	kinds     []*reconciled
	why       []string // nothing was removed
}

// reconciled is the result for one kind.
type reconciled struct {
	*reconcile.Comparison
	list *reconcile.List
	done removed
}

// compare compares a list with the documents of riskdex.
func (r *reconciliation) compare(ctx context.Context, client *adminClient, list *reconcile.List) error {
	defer r.progress.clear()
	since, err := r.since(ctx, client, list.Kind)
	if err != nil {
		return err
	}
	res, err := client.open(ctx, http.MethodGet, "/api/export", query("kind", string(list.Kind), "versions", "true"), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	k := &reconciled{Comparison: reconcile.Compare(list, since), list: list}
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
		f.Version, f.AcceptedAt, f.Deleted = d.Version, d.AcceptedAt, d.Op == report.Delete
		if len(d.Refused) > 0 {
			f.Refused = d.Refused[0].Number
		}
		return err
	})
}

// mostExplained bounds how many missing documents are looked up.
const mostExplained = 1000

// since returns the version of the cursor that was taken before the list was made: what has a
// later one may not be in the list. Versions only grow, whatever the clocks do. riskdex tells
// whether the cursor is of the journal as it is.
func (r *reconciliation) since(ctx context.Context, client *adminClient, kind report.Kind) (report.Version, error) {
	if r.Since == "" {
		return math.MaxInt64, nil
	}
	c, err := report.ParseCursor(r.Since)
	if err == nil && !slices.Contains(c.Kinds, kind) {
		err = fmt.Errorf("it is of %s, and not of %s", c.Kinds, kind)
	}
	if err == nil {
		_, err = changesPage(ctx, client, c.Kinds, r.Since, 1)
	}
	if err != nil {
		return 0, fmt.Errorf("--since: %w; take a cursor by riskdex changes --now, and have the list made anew", err)
	}
	return c.Version, nil
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

// end returns errNegative if a difference remains.
func (r *reconciliation) end() error {
	for _, k := range r.kinds {
		if k.Count(reconcile.Missing)+k.Count(reconcile.Differs)+k.Count(reconcile.Ambiguous)+k.list.Unread > 0 || k.Count(reconcile.Surplus) > k.done.absent() {
			return errNegative
		}
	}
	return nil
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/exportline"
	"riskdex/report"
)

type exportCommand struct {
	adminSettings
	Kinds   []string `arg:"" optional:"" name:"kind" enum:"cities,advisories,special-reports" help:"Only these kinds: cities, advisories, special-reports."`
	File    string   `name:"output" short:"o" placeholder:"FILE" help:"Write to a file that does not exist, which is there once it is complete; standard output if not given."`
	Journal string   `name:"journal" placeholder:"JOURNAL" help:"Export this journal or backup, a file or postgres://…, that no riskdex uses, without asking a running one."`
	JSON    bool     `name:"json" help:"Print the summary, which goes to standard error, as one JSON object."`
}

// exportSummary counts what was exported and what was left out. Deleted documents count nowhere.
type exportSummary struct {
	Records map[report.Kind]int `json:"records"`
	Bytes   int64               `json:"bytes"`
	Damaged int                 `json:"damaged"` // left out: the checksum is wrong
	Dropped int                 `json:"dropped"` // left out: dead letters that somebody dropped
	File    string              `json:"file,omitempty"`
}

func (e *exportSummary) records() (n int) {
	for _, of := range e.Records {
		n += of
	}
	return n
}

// Run writes the records. It returns errNegative if damaged ones were left out.
func (c *exportCommand) Run(ctx context.Context, io streams) error {
	kinds := report.Kinds()
	if len(c.Kinds) > 0 {
		kinds = slices.DeleteFunc(kinds, func(k report.Kind) bool { return !slices.Contains(c.Kinds, string(k)) })
	}
	slices.Sort(kinds) // the order in a journal
	sum := &exportSummary{Records: map[report.Kind]int{}, File: c.File}
	for _, kind := range kinds {
		sum.Records[kind] = 0
	}
	p := newProgress(io.err)
	if c.File == "" && isTerminal(io.out) {
		p.live = false // the records are printed there
	}
	err := c.write(io, func(out *bufio.Writer) error {
		if c.Journal != "" {
			return c.fromJournal(ctx, kinds, out, sum, p)
		}
		return c.fromRiskdex(ctx, io, kinds, out, sum, p)
	})
	p.clear()
	if err != nil {
		return err
	}
	if err := c.print(io, sum); err != nil {
		return err
	}
	if sum.Damaged > 0 {
		return errNegative
	}
	return nil
}

// write calls f with a writer to the file or to standard output. The file appears once f succeeds.
func (c *exportCommand) write(io streams, f func(*bufio.Writer) error) error {
	if c.File == "" {
		out := bufio.NewWriterSize(io.out, 1<<16)
		if err := f(out); err != nil {
			return errors.Join(fmt.Errorf("the export is not complete: %w", err), out.Flush())
		}
		return out.Flush()
	}
	if _, err := os.Lstat(c.File); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s exists; nothing is overwritten", c.File)
	}
	partial, err := os.CreateTemp(filepath.Dir(c.File), filepath.Base(c.File)+".partial-*")
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name())
	out := bufio.NewWriterSize(partial, 1<<16)
	if err := f(out); err != nil {
		return errors.Join(fmt.Errorf("nothing was exported: %w", err), partial.Close())
	}
	if err := errors.Join(out.Flush(), partial.Sync(), partial.Close()); err != nil {
		return err
	}
	return os.Link(partial.Name(), c.File) // unlike a rename, a link replaces nothing
}

// fromRiskdex asks the running riskdex for the records, kind by kind.
func (c *exportCommand) fromRiskdex(ctx context.Context, io streams, kinds []report.Kind, out *bufio.Writer, sum *exportSummary, p *progress) error {
	client, err := c.client(io)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		res, err := client.open(ctx, http.MethodGet, "/api/export", query("kind", string(kind)), nil)
		if _, answered := errors.AsType[*admin.Problem](err); err != nil && !answered && ctx.Err() == nil {
			return fmt.Errorf("%w. To export a journal that no riskdex uses, name it: --journal JOURNAL", err)
		}
		if err != nil {
			return err
		}
		err = copyLines(out, res.Body, kind, sum, p)
		_ = res.Body.Close()
		if err != nil {
			return fmt.Errorf("%w; the log of riskdex says more", err)
		}
		n, err := strconv.Atoi(res.Trailer.Get(admin.TrailerRecords))
		if err != nil {
			return fmt.Errorf("the answer does not say at its end how many %s it has, so it may be cut: a proxy between drops HTTP trailers", kind)
		}
		if n != sum.Records[kind] {
			return fmt.Errorf("%d %s came of %d", sum.Records[kind], kind, n)
		}
		for name, into := range map[string]*int{admin.TrailerDamaged: &sum.Damaged, admin.TrailerDropped: &sum.Dropped} {
			n, _ := strconv.Atoi(res.Trailer.Get(name))
			*into += n
		}
	}
	return nil
}

// copyLines copies the lines of body to out, and counts them in sum. It fails if body ends within
// a line.
func copyLines(out *bufio.Writer, body io.Reader, kind report.Kind, sum *exportSummary, p *progress) error {
	in := bufio.NewReaderSize(body, 1<<16)
	for {
		part, err := in.ReadSlice('\n')
		if _, err := out.Write(part); err != nil {
			return err
		}
		sum.Bytes += int64(len(part))
		switch {
		case err == nil:
			sum.Records[kind]++
			p.show(exportLine(sum))
		case errors.Is(err, io.EOF) && len(part) == 0:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("riskdex broke off after %s: %w", count(sum.records(), "record", "records"), err)
		}
	}
}

// fromJournal exports a journal that nobody uses.
func (c *exportCommand) fromJournal(ctx context.Context, kinds []report.Kind, out *bufio.Writer, sum *exportSummary, p *progress) (err error) {
	if err := refusePassword(c.Journal); err != nil {
		return err
	}
	source, err := endpointNamed(c.Journal).OpenSource(ctx)
	if err != nil {
		return fmt.Errorf("open the journal %s: %w", redacted(c.Journal), err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	var line []byte
	for _, kind := range kinds {
		for r, err := range source.Records(ctx, kind) {
			if err != nil {
				return err
			}
			switch r.Lost {
			case report.LostDamaged:
				sum.Damaged++
			case report.LostDropped:
				sum.Dropped++
			default:
				line = exportline.Append(line[:0], r)
				if _, err := out.Write(line); err != nil {
					return err
				}
				sum.Records[kind]++
				sum.Bytes += int64(len(line))
			}
			p.show(exportLine(sum))
		}
	}
	return nil
}

func exportLine(sum *exportSummary) string {
	return fmt.Sprintf("exporting: %s, %s", count(sum.records(), "record", "records"), humanize.IBytes(uint64(sum.Bytes)))
}

func (c *exportCommand) print(io streams, sum *exportSummary) error {
	if c.JSON {
		return json.NewEncoder(io.err).Encode(sum)
	}
	for _, kind := range report.Kinds() {
		if n, asked := sum.Records[kind]; asked {
			fmt.Fprintf(io.err, "%s: %s\n", kind, count(n, "record", "records"))
		}
	}
	fmt.Fprintf(io.err, "exported: %s, %s; deleted documents are not exported\n", count(sum.records(), "record", "records"), humanize.IBytes(uint64(sum.Bytes)))
	if sum.Dropped > 0 {
		fmt.Fprintf(io.err, "left out: %s, which riskdex no longer has\n", count(sum.Dropped, "dead letter that was dropped", "dead letters that were dropped"))
	}
	if sum.Damaged > 0 {
		where := "riskdex's log names them"
		if c.Journal != "" {
			where = "riskdex journal copy names them"
		}
		fmt.Fprintf(io.err, "left out: %s; %s, ask the publisher to deliver them again\n", count(sum.Damaged, "damaged record", "damaged records"), where)
	}
	return nil
}

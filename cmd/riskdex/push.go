package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/internal/push"
	"riskdex/internal/samplefeed"
	"riskdex/internal/sanitize"
	"riskdex/receiver/auth"
)

// deliverySettings say where a command delivers, and what it shows there.
type deliverySettings struct {
	secretFiles
	To     string `name:"to" env:"RISKDEX_URL" default:"${deliveries}" placeholder:"URL" help:"The receiver, with its path prefix. By default that of RISKDEX_LISTEN and RISKDEX_PREFIX."`
	CAFile string `name:"ca-file" env:"RISKDEX_CA_FILE" placeholder:"FILE" help:"Authorities (PEM) to trust in place of the system's."`

	RetryFor time.Duration `name:"retry-for" default:"30s" placeholder:"TIME" help:"How long to try a receiver that has not answered yet; 0 is without end. One that has is tried until it takes what is sent."`
}

// elsewhere says what to do if err is that nobody answered.
func (s deliverySettings) elsewhere(err error) error {
	if errors.Is(err, push.ErrNobodyThere) {
		return fmt.Errorf("%w. Start riskdex serve, or say where it is with --to or RISKDEX_URL, which is %s; --retry-for waits longer", err, redacted(s.To))
	}
	return err
}

// pusher returns what delivers there.
func (s deliverySettings) pusher() (*push.Pusher, error) {
	credentials, err := auth.NewCredentials(s.authConfig(), time.Now)
	if err != nil {
		return nil, err
	}
	client, err := clientTrusting("--ca-file", s.CAFile)
	if err != nil {
		return nil, err
	}
	client.Timeout = pushTimeout
	return &push.Pusher{URL: s.To, RetryFor: s.RetryFor, Client: client, Show: credentials.Show}, nil
}

// tellDenied prints that a receiver takes nothing from this sender.
func tellDenied(io streams, denied *push.DeniedError, err error) {
	fmt.Fprintf(io.err, "not accepted, and neither would the rest be: %s\n", sanitize.OneLine(err.Error()))
	if denied.Status == http.StatusUnauthorized {
		fmt.Fprintln(io.err, "Name the file with the credentials that the receiver requires: --bearer-file, --basic-file, --webhook-secret-file or --hub-secret-file, the same as for riskdex serve.")
	}
}

type pushCommand struct {
	deliverySettings
	From   string        `arg:"" optional:"" name:"dir" type:"path" help:"A folder of JSON files to send in place of the sample feed: cities.json is a POST, cities/ID.json a PUT, cities/ID.delete a DELETE, and so on for the other kinds. Or a file that riskdex export wrote, or - for such lines on standard input; each becomes a PUT."`
	Wait   time.Duration `name:"wait" placeholder:"TIME" help:"Wait with each file until a search shows the one before, such as 10s, 60s at most. Exit status 1 if one was not shown in time."`
	Export string        `name:"export" placeholder:"DIR" help:"Write the deliveries to a new folder instead of sending them."`
	JSON   bool          `name:"json" help:"Print the result as one JSON object."`

	Replace bool `name:"replace" help:"Of a folder: once all of it is accepted, remove the documents that it does not have, of each kind that it has any of, as reconcile --delete does."`
	removalSettings
	adminSettings
	payloadSettings
}

// pushTimeout bounds an attempt to send one file.
const pushTimeout = 5 * time.Minute

// Run sends a feed. The error is errNegative if something was not accepted.
func (c *pushCommand) Run(ctx context.Context, io streams, in input) error {
	if c.Wait != 0 && c.Wait < time.Second {
		return fmt.Errorf("--wait is %s: give at least one second", c.Wait)
	}
	if c.Replace {
		return c.replace(ctx, io, in)
	}
	lines, err := c.lines(ctx, in)
	if err != nil {
		return err
	}
	if lines != nil {
		defer lines.Close()
		if c.Export != "" {
			return errors.New("--export writes a folder of the sample feed or of another folder, and not of an export")
		}
		return c.send(ctx, io, push.FromLines(lines, c.From), 0, -1)
	}
	requests, err := c.requests()
	if err != nil {
		return err
	}
	if c.Export != "" {
		if err := push.WriteDir(c.Export, requests); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "%d deliveries written to %s\n", len(requests), c.Export)
		return nil
	}
	return c.send(ctx, io, push.Each(requests), len(requests), push.Size(requests))
}

// lines opens the export to push. It returns nil if there is none.
func (c *pushCommand) lines(ctx context.Context, in input) (io.ReadCloser, error) {
	if c.From == "" {
		return nil, nil
	}
	if c.From == "-" {
		return io.NopCloser(untilDone{ctx, in}), nil
	}
	info, err := os.Stat(c.From)
	if err != nil || info.IsDir() {
		return nil, err
	}
	return os.Open(c.From)
}

// send sends requests: total of them, or an unknown number if that is 0, with bodies of so
// many bytes, or -1.
func (c *pushCommand) send(ctx context.Context, io streams, requests iter.Seq2[push.Request, error], total int, size int64) error {
	pusher, err := c.pusher()
	if err != nil {
		return err
	}
	progress := newProgress(io.err)
	pusher.Wait, pusher.Waiting = c.Wait, progress.waiting
	pusher.Progress = func(done, total int, bytes int64) { progress.show(pushLine(done, total, bytes, size)) }
	progress.show(pushLine(0, total, 0, size))
	sum, err := pusher.RunSeq(ctx, total, requests)
	progress.clear()
	if c.JSON {
		if printErr := c.printJSON(io, sum, cmp.Or(total, sum.Sent)); printErr != nil {
			return printErr
		}
	} else {
		c.print(io, sum, cmp.Or(total, sum.Sent))
	}
	var denied *push.DeniedError
	switch {
	case errors.As(err, &denied):
		tellDenied(io, denied, err)
		return errNegative
	case err != nil:
		return c.elsewhere(err)
	case sum.FailedTotal > 0 || sum.RefusedTotal > 0 || c.Wait > 0 && sum.Searchable < sum.Accepted:
		return errNegative
	}
	return nil
}

// pushLine says how far a push is. It takes the share of bytes, which may differ much from that of
// deliveries: one can have a thousand documents.
func pushLine(done, total int, bytes, size int64) string {
	of := ""
	if total > 0 {
		of = " of " + humanize.Comma(int64(total))
	}
	return fmt.Sprintf("%s%s deliveries sent, %s%s", humanize.Comma(int64(done)), of, humanize.IBytes(uint64(bytes)), percent(bytes, size))
}

func (c *pushCommand) requests() ([]push.Request, error) {
	if c.From != "" {
		return push.FromDir(os.DirFS(c.From))
	}
	return samplefeed.Feed()
}

func (c *pushCommand) print(io streams, sum push.Summary, total int) {
	for _, alike := range groupFailures(sum.Failed) {
		f := alike[0]
		fmt.Fprintf(io.err, "not accepted: %s %s%s: %d %s: %s\n", f.Request.Method, f.Request.Path, andMore(len(alike)-1), f.Status, sanitize.OneLine(f.Title), sanitize.OneLine(f.Detail))
	}
	for _, r := range sum.Refused {
		fmt.Fprintf(io.err, "refused: record %d of %s %s: %s\n", r.Position, r.Request.Method, r.Request.Path, sanitize.OneLine(r.Reason))
	}
	if more := sum.RefusedTotal - len(sum.Refused); more > 0 {
		fmt.Fprintf(io.err, "refused: %s more\n", humanize.Comma(int64(more)))
	}
	if more := sum.FailedTotal - len(sum.Failed); more > 0 {
		fmt.Fprintf(io.err, "not accepted: %s more\n", humanize.Comma(int64(more)))
	}
	fmt.Fprintf(io.out, "%d of %d deliveries sent to %s, %s in %s: %d documents accepted, %d refused, %d deliveries not accepted\n",
		sum.Sent, total, redacted(c.To), humanize.IBytes(uint64(sum.Bytes)), sum.Elapsed.Round(time.Millisecond), sum.Accepted, sum.RefusedTotal, sum.FailedTotal)
	if c.Wait > 0 {
		fmt.Fprintf(io.out, "%d of %d documents were searchable within %s\n", sum.Searchable, sum.Accepted, c.Wait)
		if sum.NotWaited > 0 {
			fmt.Fprintf(io.out, "the receiver did not wait for %d of them, because too many senders wait or a file has too many documents\n", sum.NotWaited)
		}
	}
}

// groupFailures groups failures with the same answer, in the order of the first of each.
func groupFailures(all []push.Failure) (groups [][]push.Failure) {
	for _, f := range all {
		i := slices.IndexFunc(groups, func(g []push.Failure) bool { return g[0].Status == f.Status && g[0].Detail == f.Detail })
		if i < 0 {
			groups = append(groups, []push.Failure{f})
			continue
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func (c *pushCommand) printJSON(io streams, sum push.Summary, total int) error {
	result := map[string]any{
		"deliveries": total, "sent": sum.Sent, "accepted": sum.Accepted, "refused": sum.RefusedTotal,
		"failed": sum.FailedTotal, "bytes": sum.Bytes, "seconds": sum.Elapsed.Seconds(),
		"names": append([]string{}, sum.Deliveries...),
	}
	if c.Wait > 0 {
		result["searchable"], result["not_waited"] = sum.Searchable, sum.NotWaited
	}
	return json.NewEncoder(io.out).Encode(result)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esutil"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/elastic"
	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/freeport"
	"riskdex/mappings"
	"riskdex/report"
)

// peerCommand is what many would write instead of riskdex: an HTTP handler that passes what
// it gets to the BulkIndexer of the client library. It makes the same documents and, like
// riskdex, runs in a process of its own.
type peerCommand struct {
	Listen        string `required:""`
	Elasticsearch string `required:""`
	Index         string `required:""`
	Answer        string `enum:"queued,indexed,kept,read" default:"queued" help:"When to answer: once it is queued, or once Elasticsearch has it. Or: only keep it in --file, which is what a snapshot is compared with. Or: once it is read."`
	File          string
}

// Run serves until ctx is done.
func (c peerCommand) Run(ctx context.Context) error {
	p := &peer{answer: c.Answer, file: c.File}
	var err error
	if p.set, err = mappings.Builtin(); err != nil {
		return err
	}
	client, err := elastic.NewClient(elastic.Connection{URL: c.Elasticsearch})
	if err != nil {
		return err
	}
	p.bulk, err = esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: c.Index, NumWorkers: 2, FlushBytes: 5 << 20, FlushInterval: flushInterval(c.Answer),
	})
	if err != nil {
		return err
	}
	server := &http.Server{Addr: c.Listen, Handler: p}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// flushInterval is short if senders wait for the flush, because 64 of them never fill a bulk.
func flushInterval(answer string) time.Duration {
	if answer == "indexed" {
		return 5 * time.Millisecond
	}
	return time.Second
}

type peer struct {
	answer, file string
	set          *mappings.Set
	bulk         esutil.BulkIndexer
}

// ServeHTTP takes one delivery.
func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		switch p.answer {
		case "kept":
			err = p.keep(body)
		case "read":
		default:
			err = p.index(r, body)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (p *peer) index(r *http.Request, body []byte) error {
	id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	now := time.Now()
	doc, _, err := p.set.AppendDocument(make([]byte, 0, 3*len(body)), report.Change{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index,
		Version: report.Version(now.UnixMicro()), AcceptedAt: now, Body: body,
	})
	if err != nil {
		return err
	}
	item := esutil.BulkIndexerItem{Action: "index", DocumentID: id, Body: bytes.NewReader(doc)}
	var done chan error
	if p.answer == "indexed" {
		done = make(chan error, 1)
		item.OnSuccess = func(context.Context, esutil.BulkIndexerItem, esutil.BulkIndexerResponseItem) { done <- nil }
		item.OnFailure = func(_ context.Context, _ esutil.BulkIndexerItem, res esutil.BulkIndexerResponseItem, err error) {
			done <- errors.Join(err, fmt.Errorf("status %d", res.Status))
		}
	}
	if err := p.bulk.Add(context.Background(), item); err != nil || done == nil {
		return err
	}
	return <-done
}

// keep parses a body, writes it to a file and waits for the disk, which is the least that
// it takes to make a delivery durable.
func (p *peer) keep(body []byte) error {
	if err := parse(body); err != nil {
		return err
	}
	file, err := os.Create(p.file)
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	return errors.Join(err, file.Sync(), file.Close())
}

func parse(body []byte) error {
	in := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		if _, err := in.ReadToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// startPeer starts this program as a peer, and returns when the peer answers.
func (b *bench) startPeer(ctx context.Context, index, answer, file string) (address string, pid int, kill func()) {
	address = must(freeport.Address())
	cmd := exec.Command(b.self, "peer", "--listen", address, "--elasticsearch", b.es.url, "--index", index, "--answer", answer, "--file", file)
	cmd.Stderr = os.Stderr
	process := must(child.Start(cmd))
	check(until(ctx, 5*time.Millisecond, func() (bool, error) {
		c, err := dial(ctx, address)
		if err != nil {
			return false, process.Death()
		}
		return true, c.conn.Close()
	}))
	return address, process.PID(), func() { process.Kill() }
}

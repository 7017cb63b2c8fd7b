// Package samplefeed has the sample feed: what a publisher would send, in the order in which
// it would be sent. README.md says what is in it and how to change it.
package samplefeed

import (
	"bytes"
	"compress/bzip2"
	_ "embed" // the feed
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"riskdex/internal/push"
)

//go:embed feed.jsonl.bz2
var compressed []byte

// Feed returns the requests of the sample feed in the order in which they are to be sent:
// the one payload with all cities, the advisories and special reports, then corrections of
// all three, then deletions.
func Feed() ([]push.Request, error) {
	lines := json.NewDecoder(bzip2.NewReader(bytes.NewReader(compressed)))
	var requests []push.Request
	for {
		var line struct {
			Method, Path, What string
			Body               json.RawMessage
		}
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return requests, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the sample feed: %w", err)
		}
		requests = append(requests, push.Request{Method: line.Method, Path: line.Path, Body: line.Body, What: line.What})
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/samplefeed"
)

// firstID is the smallest id. With it, all ids have the same number of digits, so that all
// bodies of a workload have the same length.
const firstID, digits = 10_000_000, 8

// variety is the number of different texts in a workload. Documents with the same text are
// too far apart for Elasticsearch to compress them together.
const variety = 2_000

// workload makes advisories of one size from the sentences of the sample feed. It may be used
// concurrently.
type workload struct {
	tails [][]byte // the rest of each body after the id
}

// newWorkload makes the texts for bodies of about size bytes.
func newWorkload(size int) *workload {
	sentences := sentences()
	w := new(workload)
	dice := rand.New(rand.NewPCG(1, uint64(size)))
	for range variety {
		w.tails = append(w.tails, tailOf(dice, sentences, size))
	}
	return w
}

// head is the beginning of every body, up to the id.
const head = `{"id":`

// tailOf returns what follows the id in a body.
func tailOf(dice *rand.Rand, sentences []string, size int) []byte {
	pick := func() string { return sentences[dice.IntN(len(sentences))] }
	tail := fmt.Appendf(nil, `,"title":"%s %s","risk_level":%d,"country":"FR","duration":{"start_date":"2026-07-%02d","end_date":"2026-08-%02d"},"text":"`,
		stamp(0), firstWords(pick()), 1+dice.IntN(5), 1+dice.IntN(28), 1+dice.IntN(28))
	size -= len(head) + digits + len(`"}`)
	for len(tail) < size {
		text := quoted("<p>" + pick() + " " + pick() + "</p>\n")
		tail = append(tail, text[1:len(text)-1]...)
	}
	// Cut no escape or character in half, and pad to the same length.
	tail = bytes.ToValidUTF8(bytes.TrimRight(tail[:size], `\u0123456789abcdef`), nil)
	tail = append(tail, bytes.Repeat([]byte("."), size-len(tail))...)
	return append(tail, `"}`...)
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(8, len(words))], " ")
}

// quoted leaves < and > as they are, as most publishers do.
func quoted(text string) []byte {
	return must(jsontext.AppendQuote(nil, text))
}

// stamp returns the number of an edition as it begins the title of a document.
func stamp(edition int) string { return fmt.Sprintf("%07d", edition) }

// titleBegins is the text before the stamp.
const titleBegins = `,"title":"`

// appendBody appends the body of an edition of document n.
func (w *workload) appendBody(dst []byte, n, edition int) []byte {
	dst = append(dst, head...)
	dst = strconv.AppendInt(dst, int64(firstID+n), 10)
	title := len(dst) + len(titleBegins)
	dst = append(dst, w.tails[n%variety]...)
	if edition > 0 {
		copy(dst[title:], stamp(edition))
	}
	return dst
}

// payload returns the documents from from to to, exclusive, as one array.
func (w *workload) payload(from, to int) []byte {
	body := []byte{'['}
	for n := from; n < to; n++ {
		if n > from {
			body = append(body, ',')
		}
		body = w.appendBody(body, n, 0)
	}
	return append(body, ']')
}

// bodySize returns the length of every body, in bytes.
func (w *workload) bodySize() int { return len(head) + digits + len(w.tails[0]) }

func id(n int) string { return strconv.Itoa(firstID + n) }

// sentences returns the sentences of the sample feed's texts, without markup.
func sentences() (all []string) {
	for _, r := range must(samplefeed.Feed()) {
		var body any
		if len(r.Body) > 0 {
			check(json.Unmarshal(r.Body, &body))
		}
		all = collect(all, body)
	}
	return all
}

func collect(all []string, v any) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			all = collect(all, e)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			all = collect(all, v[name])
		}
	case string:
		for s := range strings.SplitSeq(v, ". ") {
			if len(s) > 40 && len(s) < 400 && !strings.ContainsAny(s, "<>\\\"") {
				all = append(all, strings.TrimSpace(s)+".")
			}
		}
	}
	return all
}

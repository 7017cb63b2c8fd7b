package push

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/exportline"
	"riskdex/receiver/jsonscan"
)

// longestLine bounds a line of an export, in bytes: it is more than a receiver takes.
const longestLine = 1 << 30

// FromLines reads the lines of an export, each of which becomes the PUT of its document. A city
// with a code that is not at /code in its record comes twice, first with the code there: so it
// has the code, and keeps it. FromLines keeps one line in memory. name is how the lines are
// called in errors. A line that is none ends the sequence with an error.
func FromLines(in io.Reader, name string) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		lines := bufio.NewReaderSize(in, 1<<20)
		for n := 1; ; n++ {
			line, err := readLine(lines)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Request{}, fmt.Errorf("read line %d of %s: %w", n, name, err))
				return
			}
			if len(bytes.TrimSpace(line)) > 0 {
				what := fmt.Sprintf("line %d of %s", n, name)
				l, wrong := exportline.Parse(line)
				if wrong != nil {
					yield(Request{}, fmt.Errorf("%s: %w; riskdex export writes such lines", what, wrong))
					return
				}
				for _, body := range bodies(l) {
					if !yield(Request{Method: http.MethodPut, Path: Path(l.Kind, l.ID), Body: body, What: what}, nil) {
						return
					}
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readLine returns the next line, in memory of its own; with io.EOF it is the last one.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > longestLine {
			return nil, fmt.Errorf("it is longer than %d bytes", longestLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// bodies returns what is put for a line, in order.
func bodies(l exportline.Line) [][]byte {
	if l.Code == "" || jsonscan.FirstByte(bytes.TrimSpace(l.Record)) != '{' {
		return [][]byte{l.Record}
	}
	coded := append([]byte(`{"code":`), strconv.Quote(l.Code)...)
	for _, m := range jsonscan.Members(l.Record) {
		if m.Name == "code" {
			if text, err := jsontext.AppendUnquote(nil, m.Value); err == nil && strings.EqualFold(string(text), l.Code) {
				return [][]byte{l.Record} // it states the code
			}
			continue
		}
		coded, _ = jsontext.AppendQuote(append(coded, ','), m.Name) // half a surrogate pair becomes U+FFFD
		coded = append(append(coded, ':'), m.Value...)
	}
	return [][]byte{append(coded, '}'), l.Record}
}

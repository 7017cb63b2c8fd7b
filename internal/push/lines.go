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
	"riskdex/report"
)

// longestLine bounds a line of an export, in bytes: it is more than a receiver takes.
const longestLine = 1 << 30

// FromLines reads the lines of an export, and yields the PUT of each document. Some cities need two
// PUTs. If the record lacks the city's code at /code, the first PUT has it there; the second has the
// record itself, and the city keeps the code. If the record states another id than the line, the
// first PUT states none, so that the city gets the id of the line.
//
// One line is in memory at a time. name stands for the lines in errors. A line that cannot be parsed
// ends the sequence with an error.
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

// bodies returns what is put for a line, in order: the record, and before it, where that would
// be taken for a city of another id or leave it without its code, what calls the city so.
func bodies(l exportline.Line) [][]byte {
	if l.Kind != report.Cities || jsonscan.FirstByte(bytes.TrimSpace(l.Record)) != '{' {
		return [][]byte{l.Record}
	}
	called, codeIs, idIs := []byte{'{'}, l.Code == "", true
	if l.Code != "" {
		called = append(append(called, `"code":`...), strconv.Quote(l.Code)...)
	}
	for _, m := range jsonscan.Members(l.Record) {
		switch m.Name {
		case "code":
			codeIs = codeIs || strings.EqualFold(text(m.Value), l.Code)
			if l.Code != "" {
				continue
			}
		case "id":
			if idIs = text(m.Value) == string(l.ID); !idIs {
				continue
			}
		}
		if len(called) > 1 {
			called = append(called, ',')
		}
		called, _ = jsontext.AppendQuote(called, m.Name) // half a surrogate pair becomes U+FFFD
		called = append(append(called, ':'), m.Value...)
	}
	if codeIs && idIs {
		return [][]byte{l.Record}
	}
	return [][]byte{append(called, '}'), l.Record}
}

// text returns a string of JSON, or the JSON of anything else.
func text(raw []byte) string {
	if unquoted, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(unquoted)
	}
	return string(raw)
}

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

// longestLine bounds a line of an export, in bytes. It exceeds what a receiver accepts.
const longestLine = 1 << 30

// FromLines reads the lines of an export and yields a PUT for each document. Some cities need
// two, of which the second has the record itself. If the record lacks the city's code at /code,
// the first PUT states it there, and the city keeps it. If the record states another id than the
// line, the first PUT states no id, so that the city gets the id of the line.
//
// Only one line is in memory at a time. Errors name the lines by name. A line that cannot be
// parsed ends the sequence with an error.
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

// readLine returns the next line, which the caller owns. With io.EOF, it is the last one.
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

// bodies returns the bodies of the PUTs for a line, in order. The last is the record. If that by
// itself would go to a city of another id, or leave the city without its code, it comes after a
// copy that states the code and no other id.
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

// text returns the value of a JSON string, or any other JSON as it is.
func text(raw []byte) string {
	if unquoted, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(unquoted)
	}
	return string(raw)
}

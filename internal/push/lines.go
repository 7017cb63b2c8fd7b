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

	"riskdex/internal/exportline"
	"riskdex/receiver/jsonscan"
)

// longestLine bounds a line of an export, in bytes: it is more than a receiver takes.
const longestLine = 1 << 30

// FromLines reads the lines of an export, each of which becomes the PUT of its document. A city
// with a code that its record does not state comes twice, first with the code in its record:
// so it has the code, and keeps it. FromLines keeps one line in memory. name is how the lines are called in errors. A line that is none
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

// bodies returns what is put for a line, in order.
func bodies(l exportline.Line) [][]byte {
	inner, isObject := bytes.CutPrefix(bytes.TrimSpace(l.Record), []byte("{"))
	members := jsonscan.Members(l.Record)
	if l.Code == "" || !isObject || jsonscan.Value(members, "code") != nil || contains(l.Record, l.Code) {
		return [][]byte{l.Record}
	}
	coded := append([]byte(`{"code":`), strconv.Quote(l.Code)...)
	if len(members) > 0 {
		coded = append(coded, ',')
	}
	return [][]byte{append(coded, inner...), l.Record}
}

// contains reports whether a record has a text anywhere that is a code, in whatever case.
func contains(record []byte, code string) bool {
	return bytes.Contains(bytes.ToUpper(record), []byte(strconv.Quote(code)))
}

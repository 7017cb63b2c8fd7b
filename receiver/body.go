package receiver

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// readBody returns the body of r, decompressed, of at most limit bytes. What it
// could read is returned beside a *problem as well, for inspection; it is then
// not all of the body.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *problem) {
	// The compressed form is bounded too, by the same limit: gzip can make a
	// body a little longer, but nobody compresses for that. MaxBytesReader also
	// closes the connection, so that a sender stops sending.
	var in io.Reader = http.MaxBytesReader(w, r.Body, limit)
	compressed := false
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		if before, ok := r.Body.(*readBefore); ok {
			return before.all, nil
		}
	case "gzip", "x-gzip":
		inflated, err := gzip.NewReader(in)
		if err != nil {
			return nil, readProblem(err, limit, true)
		}
		in, compressed = inflated, true
	default:
		return nil, newProblem(http.StatusUnsupportedMediaType, reasonEncoding,
			fmt.Sprintf("Content-Encoding %q is not understood: send the body as it is, or with gzip.", encoding))
	}
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= limit {
		body.Grow(int(n) + bytes.MinRead)
	}
	n, err := body.ReadFrom(io.LimitReader(in, limit+1))
	if err != nil {
		return body.Bytes(), readProblem(err, limit, compressed)
	}
	if n > limit {
		return body.Bytes()[:limit], tooLarge(limit)
	}
	return body.Bytes(), nil
}

func readProblem(err error, limit int64, compressed bool) *problem {
	var tooLong *http.MaxBytesError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &tooLong):
		return tooLarge(limit)
	case compressed && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)):
		return newProblem(http.StatusBadRequest, reasonEncoding,
			"The body is not valid gzip, though Content-Encoding says so: "+err.Error()+".")
	}
	return newProblem(http.StatusBadRequest, reasonTruncated,
		"The body could not be read to its end: "+err.Error()+". Nothing of it was accepted; send it again.")
}

func tooLarge(limit int64) *problem {
	return newProblem(http.StatusRequestEntityTooLarge, reasonTooLarge,
		fmt.Sprintf("The body is larger than %d bytes after decompression. Send it in parts, or let the operator raise --max-body.", limit))
}

package receiver

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// intake reads the body of one request, within bounds of size, memory and time.
type intake struct {
	w     http.ResponseWriter
	req   *http.Request
	limit int64 // bytes, sent and decompressed alike
	share *share
	pace  *pace
	raw   []byte // as it was sent, where that has been read already
}

// read returns the body, decompressed. What it could read is returned beside a
// *problem as well, for inspection; it is then not all of the body.
func (b *intake) read() (content []byte, p *problem) {
	defer b.end()
	switch encoding := strings.ToLower(strings.TrimSpace(b.req.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return b.readRaw()
	case "gzip", "x-gzip":
		return b.inflate()
	default:
		return nil, newProblem(http.StatusUnsupportedMediaType, reasonEncoding,
			fmt.Sprintf("Content-Encoding %q is not understood: send the body as it is, or with gzip.", encoding))
	}
}

// readRaw returns the body as it was sent. It may be called again.
func (b *intake) readRaw() ([]byte, *problem) {
	if b.raw != nil {
		return b.raw, nil
	}
	read, err := b.share.readAll(b.sent(), b.limit, b.req.ContentLength)
	if err != nil {
		return read, b.problem(err, false)
	}
	b.raw = read
	return read, nil
}

// sent is what comes over the connection. The compressed form is bounded by the
// same limit: gzip can make a body a little longer, but nobody compresses for
// that. MaxBytesReader also closes the connection, so that a sender stops sending.
func (b *intake) sent() io.Reader {
	return http.MaxBytesReader(b.w, b.pace, b.limit)
}

func (b *intake) inflate() ([]byte, *problem) {
	var sent io.Reader = bytes.NewReader(b.raw)
	if b.raw == nil {
		sent = b.sent()
	}
	in, err := newGunzip(sent)
	if err == io.EOF {
		return []byte{}, nil // which is no JSON, however it was sent
	}
	if err != nil {
		return nil, b.problem(err, true)
	}
	read, err := b.share.readAll(in, b.limit, -1)
	if err != nil {
		return read, b.problem(err, true)
	}
	b.share.giveBack(int64(len(b.raw)))
	b.raw = nil
	return read, nil
}

// end notes that nothing more is read of the connection.
func (b *intake) end() {
	b.share.done() // from here on nobody stops the pace
	b.pace.done()
}

// errTooLarge is why a body that grows by decompression is not read to its end.
var errTooLarge = errors.New("it is too large")

func (b *intake) problem(err error, compressed bool) *problem {
	var tooLong *http.MaxBytesError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &tooLong), errors.Is(err, errTooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, reasonTooLarge,
			fmt.Sprintf("The body is larger than %d bytes after decompression. Send it in parts, or let the operator raise --max-body.", b.limit))
	case errors.Is(err, errNoMemory) || b.share.mustGiveWay():
		return newProblem(http.StatusServiceUnavailable, reasonBusy,
			"Too many large deliveries come at once. Nothing of this one was accepted; send it again later, or in parts.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, reasonTooSlow,
			fmt.Sprintf("The body came too slowly: %d bytes a second are the least. Nothing of it was accepted; send it again.", leastPace))
	case errors.Is(err, errNotGzip):
		return newProblem(http.StatusBadRequest, reasonGzip,
			"The body is not gzip, though Content-Encoding says so: "+err.Error()+". Compress it, or leave Content-Encoding out.")
	case compressed && (errors.Is(err, errAfterGzip) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)):
		return newProblem(http.StatusBadRequest, reasonGzip,
			"The body is not valid gzip, though Content-Encoding says so: "+err.Error()+". Sending it again as it is does not help.")
	}
	return newProblem(http.StatusBadRequest, reasonTruncated,
		"The body could not be read to its end: "+err.Error()+". Nothing of it was accepted; send it again.")
}

package body

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
	"time"
)

var (
	// ErrTooLarge is returned for a body that is larger than the limit, before or after
	// decompression.
	ErrTooLarge = errors.New("it is too large")
	// ErrTooSlow is returned for a body that arrives below LeastPace.
	ErrTooSlow = errors.New("it came too slowly")
)

// EncodingError is returned for an unknown Content-Encoding.
type EncodingError struct{ Encoding string }

func (e *EncodingError) Error() string {
	return fmt.Sprintf("the encoding %q is not known", e.Encoding)
}

// GzipError is returned for a body that is not valid gzip although its Content-Encoding says so. It
// wraps ErrNotGzip if even the beginning is something else. A body that is only cut off is no
// GzipError.
type GzipError struct{ Err error }

func (e *GzipError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the gzip.
func (e *GzipError) Unwrap() error { return e.Err }

// Reader reads the body of one request. Only the goroutine of the request may use it.
type Reader struct {
	w        http.ResponseWriter
	req      *http.Request
	limit    int64
	reserved *reservation
	pace     *pace
	raw      []byte // as it was sent, where that has been read already
}

// NewReader returns a reader for the body of req, which may have at most limit bytes as it was sent,
// and as many decompressed. The caller closes the reader after the answer.
func (b *Budget) NewReader(w http.ResponseWriter, req *http.Request, limit int64) *Reader {
	// The deadlines of connections follow the system's clock.
	p := &pace{ReadCloser: req.Body, setDeadline: http.NewResponseController(w).SetReadDeadline, now: time.Now}
	p.reservation = b.reserve(p.stop)
	return &Reader{w: w, req: req, limit: limit, reserved: p.reservation, pace: p}
}

// Close returns the memory of the request to the budget. It may be called again.
func (r *Reader) Close() {
	r.pace.end() // also where nothing of the body was read
	r.reserved.release()
}

// ReadAll returns the decompressed body. Beside an error it returns the beginning of the body, for
// inspection. The error is ErrTooLarge, ErrTooSlow, ErrBusy, an *EncodingError, a *GzipError, or
// says why the body ended too early.
func (r *Reader) ReadAll() ([]byte, error) {
	defer r.Skip()
	switch encoding := strings.ToLower(strings.TrimSpace(r.req.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return r.ReadRaw()
	case "gzip", "x-gzip":
		return r.inflate()
	default:
		return nil, &EncodingError{encoding}
	}
}

// ReadRaw returns the body as it was sent, with the errors of ReadAll. ReadRaw and ReadAll
// may be called after it.
func (r *Reader) ReadRaw() ([]byte, error) {
	if r.raw != nil {
		return r.raw, nil
	}
	read, err := readAll(r.reserved, r.sent(), r.limit, r.req.ContentLength)
	if err != nil {
		return read, r.cause(err)
	}
	r.raw = read
	return read, nil
}

// Raw returns the body that ReadRaw has read; nil if that failed, or once ReadAll has decompressed
// it.
func (r *Reader) Raw() []byte { return r.raw }

// Grow reserves that many more bytes of the budget for what is made of the body, and waits for them if
// need be. The error is ErrBusy or ErrOverBudget.
func (r *Reader) Grow(bytes int64) error { return r.reserved.grow(bytes) }

// Skip tells the reader that nothing more of the body will be read.
func (r *Reader) Skip() {
	r.reserved.finish() // from here on nobody interrupts the pace
	r.pace.end()
}

// sent is what arrives over the connection. The compressed form has the limit of the
// decompressed one: gzip can make a body a little longer, but nobody compresses for that.
// MaxBytesReader also closes the connection, so that the sender stops.
func (r *Reader) sent() io.Reader {
	return http.MaxBytesReader(r.w, r.pace, r.limit)
}

func (r *Reader) inflate() ([]byte, error) {
	var sent io.Reader = bytes.NewReader(r.raw)
	if r.raw == nil {
		sent = r.sent()
	}
	in, err := newGunzip(sent)
	if err == io.EOF {
		return []byte{}, nil // an empty body is empty, however it was sent
	}
	if err != nil {
		return nil, r.cause(err)
	}
	read, err := readAll(r.reserved, in, r.limit, -1)
	if err != nil {
		return read, r.cause(err)
	}
	r.reserved.shrink(int64(len(r.raw)))
	r.raw = nil
	return read, nil
}

// cause returns the documented error for one of a read.
func (r *Reader) cause(err error) error {
	var tooLong *http.MaxBytesError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &tooLong), errors.Is(err, ErrTooLarge):
		return ErrTooLarge
	case errors.Is(err, ErrBusy), r.reserved.isEvicted():
		return ErrBusy
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTooSlow
	case errors.Is(err, ErrNotGzip), errors.Is(err, errAfterGzip), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return &GzipError{err}
	}
	return err
}

package body

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

var (
	// ErrNotGzip is wrapped by a GzipError.
	ErrNotGzip   = errors.New("it does not begin like gzip")
	errAfterGzip = errors.New("other bytes come after the end of the gzip")
)

// gzipMagic is what gzip begins with.
const gzipMagic = "\x1f\x8b"

// LooksGzipped reports whether content begins like gzip.
func LooksGzipped(content []byte) bool { return bytes.HasPrefix(content, []byte(gzipMagic)) }

// gunzip decompresses one gzip member or several, followed by nothing. gzip.Reader takes
// other bytes after the end for a member that is cut off, which looks as if sending it
// again could help.
type gunzip struct {
	from *bufio.Reader
	z    *gzip.Reader
}

func newGunzip(from io.Reader) (*gunzip, error) {
	g := &gunzip{from: bufio.NewReader(from)}
	begins, err := g.begins()
	if err == nil && !begins {
		err = ErrNotGzip
	}
	if err != nil {
		return nil, err
	}
	if g.z, err = gzip.NewReader(g.from); err != nil {
		return nil, err
	}
	g.z.Multistream(false)
	return g, nil
}

// begins reports whether a member comes next. The error is io.EOF at the end.
func (g *gunzip) begins() (bool, error) {
	next, err := g.from.Peek(len(gzipMagic))
	switch {
	case !bytes.HasPrefix([]byte(gzipMagic), next):
		return false, nil
	case err == io.EOF && len(next) > 0:
		return false, io.ErrUnexpectedEOF
	}
	return err == nil, err
}

func (g *gunzip) Read(b []byte) (int, error) {
	for {
		n, err := g.z.Read(b)
		if err != io.EOF {
			return n, err
		}
		begins, err := g.begins()
		switch {
		case err == nil && !begins:
			err = errAfterGzip
		case err == nil:
			err = g.z.Reset(g.from)
			g.z.Multistream(false)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

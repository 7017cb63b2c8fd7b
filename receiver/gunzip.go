package receiver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Why a body that is said to be gzip is none, however much of it came.
var (
	errNotGzip   = errors.New("it does not begin like gzip")
	errAfterGzip = errors.New("other bytes come after the end of the gzip")
)

// gzipMagic is what gzip begins with.
const gzipMagic = "\x1f\x8b"

// gunzip decompresses what comes of a body: one member or several, and nothing else.
// gzip.Reader takes other bytes after the end for a member that breaks off, which sending
// it again would mend.
type gunzip struct {
	from *bufio.Reader
	z    *gzip.Reader
}

func newGunzip(from io.Reader) (*gunzip, error) {
	g := &gunzip{from: bufio.NewReader(from)}
	begins, err := g.begins()
	if err == nil && !begins {
		err = errNotGzip
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

// begins tells whether a member comes next. The error is io.EOF at the end.
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

package receiver

import "io"

const (
	firstChunk = 4 << 10
	// largeChunk is from what size on the parts of a body lie outside of Go's heap. They
	// are given back the moment they are not needed, however late the collector comes.
	largeChunk = 1 << 20
	// keptUnread is how much is returned of a body that could not be read to its end: the
	// journal keeps no more of it.
	keptUnread = 4 << 20
)

// chain is a body while it is read: chunks that are twice as large each time, up to
// largeChunk. Nothing is copied to make room, and a body that is refused before its end
// is never in one piece.
type chain struct {
	chunks [][]byte // full, but for the last
	size   int64
}

// readAll reads in to its end, of which at most limit bytes are allowed. length is
// what was stated, or -1. What could be read is returned beside an error, as far as it
// is kept.
func (s *share) readAll(in io.Reader, limit, length int64) ([]byte, error) {
	var c chain
	defer c.free()
	for {
		if err := c.extend(s, limit, length); err != nil {
			return c.join(keptUnread), err
		}
		last := &c.chunks[len(c.chunks)-1]
		n, err := in.Read((*last)[len(*last):cap(*last)])
		*last = (*last)[:len(*last)+n]
		c.size += int64(n)
		s.brought(int64(n))
		switch {
		case c.size > limit:
			return c.join(min(limit, keptUnread)), errTooLarge
		case err == io.EOF:
			return c.join(c.size), nil
		case err != nil:
			return c.join(keptUnread), err
		}
	}
}

// extend sees to it that the last chunk has room. It is for as much as has come, or what
// is left of the stated length: all of that at once would be simpler, and let whoever
// states a length have memory for it.
func (c *chain) extend(s *share, limit, length int64) error {
	if n := len(c.chunks); n > 0 && len(c.chunks[n-1]) < cap(c.chunks[n-1]) {
		return nil
	}
	size := min(max(firstChunk, c.size), largeChunk)
	switch {
	case c.size == 0 && 0 <= length && length < smallBody:
		size = length + 1 // the end is seen without another round
	case c.size <= length && length < limit: // no number that is too large to add to
		size = min(size, length-c.size+1)
	}
	size = min(size, limit-c.size+1)
	if err := s.grow(size); err != nil {
		return err
	}
	if size == largeChunk {
		c.chunks = append(c.chunks, mapChunk())
	} else {
		c.chunks = append(c.chunks, make([]byte, 0, size))
	}
	return nil
}

// join returns the first bytes of the body in one piece, and ends the chain.
func (c *chain) join(bytes int64) []byte {
	bytes = min(bytes, c.size)
	if len(c.chunks) == 1 {
		return c.chunks[0][:bytes:bytes]
	}
	whole := make([]byte, 0, bytes)
	for i, chunk := range c.chunks {
		whole = append(whole, chunk[:min(int64(len(chunk)), bytes-int64(len(whole)))]...)
		if cap(chunk) == largeChunk {
			unmapChunk(chunk)
		}
		c.chunks[i] = nil
	}
	return whole
}

// free gives back what join has not.
func (c *chain) free() {
	for _, chunk := range c.chunks {
		if cap(chunk) == largeChunk {
			unmapChunk(chunk)
		}
	}
}

package body

import "io"

const (
	firstChunk = 4 << 10
	// largeChunk is the size from which chunks lie outside of Go's heap: they are given back
	// at once when they are not needed, and not when the collector comes.
	largeChunk = 1 << 20
	// keptUnread is how many bytes are returned of a body that could not be read to its
	// end. The journal keeps no more of it.
	keptUnread = 4 << 20
)

// chain is a body while it is read: chunks that double in size up to largeChunk. Nothing is
// copied to make room, and a body that is refused before its end is never in one piece.
type chain struct {
	chunks [][]byte // full, except the last
	size   int64
}

// readAll reads in to its end, at most limit bytes. length is what the request states, or
// -1. Beside an error it returns the first keptUnread bytes.
func readAll(m *reservation, in io.Reader, limit, length int64) ([]byte, error) {
	var c chain
	defer c.free()
	for {
		if err := c.extend(m, limit, length); err != nil {
			return c.join(keptUnread), err
		}
		last := &c.chunks[len(c.chunks)-1]
		n, err := in.Read((*last)[len(*last):cap(*last)])
		*last = (*last)[:len(*last)+n]
		c.size += int64(n)
		m.received(int64(n))
		switch {
		case c.size > limit:
			return c.join(min(limit, keptUnread)), ErrTooLarge
		case err == io.EOF:
			return c.join(c.size), nil
		case err != nil:
			return c.join(keptUnread), err
		}
	}
}

// extend makes sure that the last chunk has room. A new chunk is as large as what has
// arrived, or as what is left of the stated length. Allocating the stated length at once
// would be simpler, and give memory to anybody who states one.
func (c *chain) extend(m *reservation, limit, length int64) error {
	if n := len(c.chunks); n > 0 && len(c.chunks[n-1]) < cap(c.chunks[n-1]) {
		return nil
	}
	size := min(max(firstChunk, c.size), largeChunk)
	switch {
	case c.size == 0 && 0 <= length && length < smallBody:
		size = length + 1 // one byte more, so that the next read finds the end
	case c.size <= length && length < limit: // a length below the limit cannot overflow
		size = min(size, length-c.size+1)
	}
	size = min(size, limit-c.size+1)
	if err := m.grow(size); err != nil {
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

// free gives back the chunks that join has not.
func (c *chain) free() {
	for _, chunk := range c.chunks {
		if cap(chunk) == largeChunk {
			unmapChunk(chunk)
		}
	}
}

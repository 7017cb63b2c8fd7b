package receiver

import "io"

// holding is what one request holds of the memory that all share: nothing, while
// its body is small.
type holding struct {
	of    *memory
	share *share
	stop  func() // ends a read under way
}

// readAll reads in to its end, of which at most limit bytes are allowed. length is
// what was stated, or -1. What could be read is returned beside an error.
func (h *holding) readAll(in io.Reader, limit, length int64) ([]byte, error) {
	size := int64(4 << 10)
	if 0 <= length && length < smallBody {
		size = length + 1 // the end is seen without another round
	}
	read := make([]byte, 0, size)
	for {
		n, err := in.Read(read[len(read):cap(read)])
		read = read[:len(read)+n]
		if h.share != nil {
			h.share.brought(int64(n))
		}
		switch {
		case int64(len(read)) > limit:
			return read[:limit], errTooLarge
		case err == io.EOF:
			return read, nil
		case err != nil:
			return read, err
		}
		if len(read) == cap(read) {
			if read, err = h.grow(read, limit, length); err != nil {
				return read, err
			}
		}
	}
}

// grow returns read with twice the room, or what is left of the stated length. All of
// it at once would be cheaper, and let whoever states a length have memory for it.
func (h *holding) grow(read []byte, limit, length int64) ([]byte, error) {
	size := 2 * int64(cap(read))
	if length >= int64(len(read)) {
		size = min(size, length+1)
	}
	size = min(size, limit+1)
	if size > smallBody {
		if h.share == nil {
			h.share = h.of.enter(h.stop)
		}
		if err := h.share.grow(size - int64(cap(read))); err != nil {
			return read, err
		}
	}
	return append(make([]byte, 0, size), read...), nil
}

// mustGiveWay tells whether another request wants the memory.
func (h *holding) mustGiveWay() bool { return h.share != nil && h.share.mustGiveWay() }

// done notes that all has been read.
func (h *holding) done() {
	if h.share != nil {
		h.share.done()
	}
}

// leave gives everything back.
func (h *holding) leave() {
	if h.share != nil {
		h.share.leave()
	}
}

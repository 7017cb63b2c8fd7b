package body

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// TestReadAll reads bodies that come in every possible way.
func TestReadAll(t *testing.T) {
	const limit = 3 << 20
	content := make([]byte, limit+1)
	for i := range content {
		content[i] = byte(i * 7)
	}
	for _, size := range []int{0, 1, 4 << 10, smallBody - 1, smallBody, smallBody + 1, 100_000, 1 << 20, limit, limit + 1} {
		for _, length := range []int64{int64(size), -1} {
			m := NewBudget(2*limit, 2*limit)
			h := m.reserve(nobody)
			got, err := readAll(h, bytes.NewReader(content[:size]), limit, length)
			if size > limit {
				if !errors.Is(err, ErrTooLarge) || len(got) != limit {
					t.Errorf("%d bytes: %d, %v", size, len(got), err)
				}
			} else if err != nil || !bytes.Equal(got, content[:size]) {
				t.Errorf("%d bytes, stated as %d: %d, %v", size, length, len(got), err)
			}
			if held := 2*limit - m.free; size < smallBody && held != 0 || held > int64(2*size+smallBody) {
				t.Errorf("%d bytes, stated as %d, take %d bytes of memory", size, length, held)
			}
			h.release()
			if m.free != 2*limit {
				t.Errorf("%d bytes: %d of memory are not given back", size, 2*limit-m.free)
			}
		}
	}
}

// TestMemoryIsForWhatHasCome, not for a length that is only stated.
func TestMemoryIsForWhatHasCome(t *testing.T) {
	const limit = 3 << 20
	for _, length := range []int64{64 << 10, 1 << 20, limit, -1} {
		m := NewBudget(2*limit, 2*limit)
		h := m.reserve(nobody)
		came := 0
		body := readerFunc(func(b []byte) (int, error) {
			if held := 2*limit - m.free; held > 2*int64(came) {
				t.Errorf("of %d bytes, %d have come, and %d bytes of memory are in use", length, came, held)
			}
			n := min(len(b), 10_000, 64<<10-came)
			if came += n; n == 0 {
				return 0, io.ErrUnexpectedEOF
			}
			return n, nil
		})
		if _, err := readAll(h, body, limit, length); !errors.Is(err, io.ErrUnexpectedEOF) || came != 64<<10 {
			t.Errorf("read %d bytes, %v", came, err)
		}
		h.release()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

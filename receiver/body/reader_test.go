package body

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestSignedAndZipped is read twice, as it was sent and decompressed.
func TestSignedAndZipped(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	content := make([]byte, 100_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content) // hardly smaller when it is compressed
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("PUT", "/cities/1", bytes.NewReader(b.Bytes()))
	req.Header.Set("Content-Encoding", "gzip")
	budget := NewBudget(400_000, 400_000)
	r := budget.NewReader(httptest.NewRecorder(), req, 200_000)
	raw, err := r.ReadRaw()
	if err != nil || !bytes.Equal(raw, b.Bytes()) {
		t.Fatalf("as sent: %d bytes, %v", len(raw), err)
	}
	if all, err := r.ReadAll(); err != nil || !bytes.Equal(all, content) {
		t.Errorf("decompressed: %d bytes, %v", len(all), err)
	}
	if held := budget.size - budget.free; held > 131072 {
		t.Errorf("%d bytes of memory are in use although the compressed body is no longer needed", held)
	}
}

// TestGzipBombDoesNotGrowMemory: only as much of a bomb is decompressed as is allowed.
func TestGzipBombDoesNotGrowMemory(t *testing.T) {
	const inflated = 256 << 20
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range inflated / len(zeros) {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("POST", "/cities", &b)
	req.Header.Set("Content-Encoding", "gzip")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = NewBudget(8<<20, 8<<20).NewReader(httptest.NewRecorder(), req, 4<<20).ReadAll()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 6<<20 {
		t.Errorf("a bomb of %d MiB took %d MiB of memory, with a limit of 4", inflated>>20, grown>>20)
	}
}

// FuzzGzipBody: whatever comes as gzip, at most the limit is returned, and its memory is
// given back.
func FuzzGzipBody(f *testing.F) {
	const limit = 64 << 10
	for _, text := range []string{"", `{"id":1}`, strings.Repeat("0", limit+1)} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		f.Add(b.Bytes())
		f.Add(append(bytes.Clone(b.Bytes()), b.Bytes()...))
		f.Add(b.Bytes()[:b.Len()/2])
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		budget := NewBudget(2*limit, 2*limit)
		req := httptest.NewRequest(http.MethodPut, "/cities/1", bytes.NewReader(sent))
		req.Header.Set("Content-Encoding", "gzip")
		r := budget.NewReader(httptest.NewRecorder(), req, limit)
		content, err := r.ReadAll()
		r.Close()
		if len(content) > limit {
			t.Errorf("%d bytes are returned, more than the limit", len(content))
		}
		if errors.Is(err, ErrBusy) || errors.Is(err, ErrOverBudget) {
			t.Errorf("error %v although it is the only body", err)
		}
		if budget.free != 2*limit || len(budget.reservations) != 0 {
			t.Errorf("%d bytes of memory are not given back", 2*limit-budget.free)
		}
	})
}

package reconcile

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"testing"

	"riskdex/report"
)

// TestMemory compares many records of 1 KiB with as many documents. What it keeps are names
// and digests: about 130 bytes for each in the list, and as many for each that differs.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second of CPU")
	}
	const n, record = 50_000, `{"id":"ba7816bf-8f01-cfea-4141-%08d","text":"%01000d"}`
	pr, pw := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(pw, 1<<20)
		for i := range n {
			fmt.Fprintf(out, record+"\n", i, i)
		}
		_ = out.Flush()
		_ = pw.Close()
	}()
	r := payloads(t)
	runtime.GC()
	var before, after, end runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := Read(pr, report.Advisories, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	c := Compare(l, since)
	for i := range n {
		if i%2 == 0 { // the others are missing, and these are surplus or the same
			d := here(fmt.Sprintf("ba7816bf-8f01-cfea-4141-%08d", i*3/2), "", fmt.Sprintf(record, i*3/2, i))
			d.Kind = report.Advisories
			c.Add(d)
		}
	}
	c.End()
	runtime.GC()
	runtime.ReadMemStats(&end)
	runtime.KeepAlive(c)
	list, all := (after.HeapAlloc-before.HeapAlloc)>>20, (end.HeapAlloc-before.HeapAlloc)>>20
	t.Logf("%d documents, %d differ; the list takes %d MiB, all %d MiB, %d MiB of the system", l.Len(), len(c.Found), list, all, end.Sys>>20)
	if l.Len() != n || list > 15 || all > 40 {
		t.Errorf("a list of %d documents takes %d MiB, and with %d that differ %d", l.Len(), list, len(c.Found), all)
	}
}

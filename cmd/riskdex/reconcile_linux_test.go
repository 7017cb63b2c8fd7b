package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"riskdex/internal/testkit/require"
)

// TestReconcileOnATerminal is asked there, and shows some of many that differ.
func TestReconcileOnATerminal(t *testing.T) {
	const now = "1100.1100.cas.feed"
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/changes" {
			fmt.Fprintf(w, `{"items":[],"next":%q,"more":false}`, now)
			return
		}
		for _, name := range []string{"Riskdex-Records", "Riskdex-Damaged", "Riskdex-Dropped"} {
			w.Header().Add("Trailer", name)
		}
		for i := range 30 {
			fmt.Fprintf(w, `{"kind":"advisories","id":"%02d","version":%d,"accepted_at":"2026-01-01T00:00:00Z","record":{}}`+"\n", i, 1000+i)
		}
		w.Header().Set("Riskdex-Records", "30")
		w.Header().Set("Riskdex-Damaged", "0")
		w.Header().Set("Riskdex-Dropped", "0")
	}))
	t.Cleanup(admin.Close)
	var mu sync.Mutex
	var deletes []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		deletes = append(deletes, r.Method+" "+r.URL.Path+" "+r.Header.Get("If-Match"))
		mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(receiver.Close)
	list := writeList(t, "00\n01\n02\n03\n04\n05\n06\n")
	for answer, want := range map[string]struct {
		ends    error
		deletes int
	}{"n": {errNegative, 0}, "": {errNegative, 0}, "^C": {errNegative, 0}, "y": {nil, 23}} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		deletes = nil
		terminal, screen := openTerminal(t, 120, 50)
		ended := make(chan error, 1)
		c := reconcileCommand{adminSettings: adminSettings{Admin: admin.URL}, deliverySettings: deliverySettings{To: receiver.URL}, Kind: "advisories", List: list, Delete: true}
		c.Since = now
		require.NoError(t, c.AtMost.UnmarshalText([]byte("80%")))
		go func() {
			ended <- c.Run(ctx, streams{terminal, terminal}, input{terminal})
			fmt.Fprintln(terminal, "the end")
		}()
		var seen bytes.Buffer
		buf := make([]byte, 1024)
		for asked := false; !strings.Contains(seen.String(), "the end"); {
			n, err := screen.Read(buf)
			require.NoError(t, err)
			seen.Write(buf[:n])
			if !asked && strings.Contains(seen.String(), "[y/N]") {
				asked = true
				if answer == "^C" {
					interrupt()
					continue
				}
				_, err := screen.WriteString(answer + "\n")
				require.NoError(t, err)
			}
		}
		if err := <-ended; err != want.ends || len(deletes) != want.deletes {
			t.Errorf("after %q: %v, %q", answer, err, deletes)
		}
		for _, text := range []string{
			"surplus   advisories 07", "surplus   advisories 29", // by name, all of them
			"The list has 7 advisories: does the publisher have as many, by its own count? Then 23 of 30 here would be removed", "Remove them? [y/N]",
		} {
			if !strings.Contains(seen.String(), text) {
				t.Errorf("the screen lacks %q: %q", text, seen.String())
			}
		}
		if want.deletes > 0 && deletes[0] != `DELETE /advisories/07 "1007"` {
			t.Errorf("deleted by %q", deletes[0])
		}
	}
}

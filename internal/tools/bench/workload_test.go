package main

import (
	"encoding/json"
	"testing"
)

func TestBodiesOfAWorkload(t *testing.T) {
	for _, size := range []int{growthSize, 4 << 10, snapshotSize} {
		w := newWorkload(size)
		texts := map[string]bool{}
		for _, n := range []int{0, 1, variety - 1, variety, 999_999} {
			for _, edition := range []int{0, 49_999} {
				var body struct {
					ID          int
					Title, Text string
				}
				raw := w.appendBody(nil, n, edition)
				if err := json.Unmarshal(raw, &body); err != nil {
					t.Fatalf("document %d: %v", n, err)
				}
				if len(raw) != size {
					t.Errorf("document %d has %d bytes, want %d", n, len(raw), size)
				}
				if body.ID != firstID+n || body.Title[:7] != stamp(edition) {
					t.Errorf("document %d, edition %d, has id %d and title %q", n, edition, body.ID, body.Title)
				}
				texts[body.Text] = true
			}
		}
		if len(texts) != 3 { // 0 and variety have the same text, and so have 999,999 and variety-1
			t.Errorf("%d different texts of %d bytes, want 3", len(texts), size)
		}
	}
}

func TestOvertakenUpdates(t *testing.T) {
	h := &history{updates: make([]update, 3*hot)}
	h.updates[0] = update{1, 2}
	h.updates[hot] = update{3, 6}
	h.updates[2*hot] = update{5, 7}
	for n, want := range map[int]bool{0: true, hot: false, 2 * hot: false} {
		if got := h.overtaken(n); got != want {
			t.Errorf("update %d is overtaken: %v, want %v", n, got, want)
		}
	}
}

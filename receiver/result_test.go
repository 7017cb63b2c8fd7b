package receiver

import (
	"net/http"
	"slices"
	"testing"
)

// TestAmbiguousCodeIsRefused, alone or among others, and kept as it was sent.
func TestAmbiguousCodeIsRefused(t *testing.T) {
	d := open(t, nil)
	for method, body := range map[string]string{"PUT": `{"title":"x"}`, "DELETE": ""} {
		if got := d.send(method, "/cities/ambiguous", body); got.status != http.StatusConflict || got.Reason != reasonAmbiguous || len(got.Refused) != 0 {
			t.Errorf("%s is answered %+v", method, got)
		}
		kept := d.ambiguous[len(d.ambiguous)-1]
		if kept.Method != method || kept.ID != "ambiguous" || kept.Position != -1 || kept.Path != "/cities/ambiguous" || kept.At.IsZero() || string(kept.Body) != body {
			t.Errorf("%s is kept as %+v", method, kept)
		}
	}
	if n := d.series()[`riskdex_changes_refused_total kind=cities reason=ambiguous_code`]; n != 2 {
		t.Errorf("%v ambiguous codes are counted", n)
	}
	got := d.send("POST", "/cities", `[{"id":1},{"title":"no id"},{"code":"ambiguous"},{}]`)
	var positions []int
	for _, refused := range got.Refused {
		positions = append(positions, refused.Position)
	}
	if got.status != http.StatusAccepted || got.Accepted != 1 || got.RefusedTotal != 3 || !slices.Equal(positions, []int{1, 2, 3}) {
		t.Errorf("answered %+v", got)
	}
	if got := d.send("POST", "/cities", `[{"code":"ambiguous"}]`); got.status != http.StatusConflict || got.RefusedTotal != 1 || d.ambiguous[3].Position != 0 {
		t.Errorf("answered %+v", got)
	}
}

// TestDeleteOfNothingSaysSo, and succeeds.
func TestDeleteOfNothingSaysSo(t *testing.T) {
	d := open(t, nil)
	if got := d.send("DELETE", "/advisories/unknown", ""); got.status != http.StatusAccepted || got.Accepted != 1 || !slices.Equal(got.Unknown, []int{0}) {
		t.Errorf("answered %+v", got)
	}
	if got := d.send("DELETE", "/advisories/1", ""); got.status != http.StatusAccepted || got.Unknown != nil {
		t.Errorf("answered %+v", got)
	}
	if n := d.series()[`riskdex_deletes_unknown_total kind=advisories`]; n != 1 {
		t.Errorf("%v deletes of unknown documents are counted", n)
	}
}

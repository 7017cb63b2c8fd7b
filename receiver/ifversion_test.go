package receiver

import (
	"net/http"
	"testing"

	"riskdex/report"
)

func TestDeleteOfOneVersion(t *testing.T) {
	d := open(t, nil)
	for _, c := range []struct {
		path, header string
		status       int
		want         report.Version
	}{
		{"/cities/1", `"1763909431000001"`, http.StatusAccepted, 1763909431000001},
		{"/cities/1", ` "7" `, http.StatusAccepted, 7},
		{"/cities/1", "*", http.StatusAccepted, 0},
		{"/cities/outdated", `"7"`, http.StatusPreconditionFailed, 7},
		{"/cities/unknown", `"7"`, http.StatusAccepted, 7},
		{"/cities/1", `W/"7"`, http.StatusPreconditionFailed, -1},
		{"/cities/1", `"7", "8"`, http.StatusPreconditionFailed, -1},
		{"/cities/1", `"7`, http.StatusPreconditionFailed, -1},
		{"/cities/1", `7`, http.StatusPreconditionFailed, -1},
		{"/cities/1", `"0"`, http.StatusPreconditionFailed, -1},
		{"/cities/1", `"99999999999999999999"`, http.StatusPreconditionFailed, -1},
	} {
		before := len(d.changes())
		got := d.send("DELETE", c.path, "", "If-Match", c.header)
		if got.status != c.status || (got.Reason == reasonOutdated) != (c.status == http.StatusPreconditionFailed) {
			t.Errorf("If-Match: %s is answered %+v", c.header, got)
		}
		if passed := d.changes()[before:]; len(passed) != 1 || passed[0].IfVersion != c.want {
			t.Errorf("If-Match: %s is passed on as %+v, want version %d", c.header, passed, c.want)
		}
	}
	if n := len(d.refusals()); n != 0 {
		t.Errorf("%d are kept as refused", n)
	}
	if d.send("PUT", "/cities/1", `{"a":1}`, "If-Match", `"7"`); d.changes()[len(d.changes())-1].IfVersion != 0 {
		t.Error("a PUT is for one version")
	}
}

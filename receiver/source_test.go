package receiver

import (
	"bytes"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// TestHistoryNamesTheSender by its credential, and keeps no secret.
func TestHistoryNamesTheSender(t *testing.T) {
	const secret = "a-password-that-nobody-else-has"
	g := guard(t, auth.Config{BasicFiles: secretFile(t, "cms:"+secret), AllowFrom: []string{"127.0.0.1", "192.0.2.0/24"}, TrustedProxies: []string{"127.0.0.1"}})
	if a := g.signed(http.MethodPut, "/cities/a%2Fb", "1", `{"title":"x"}`, "X-Forwarded-For", "192.0.2.7"); a.status != http.StatusAccepted {
		t.Fatalf("answered %d", a.status)
	}
	list, err := g.journal.History(t.Context(), report.Key{Kind: report.Cities, ID: "a/b"}, math.MaxInt64, 10)
	want := report.Source{Sender: "cms", Address: "192.0.2.7", Call: "PUT /cities/a%2Fb"}
	if err != nil || len(list) != 1 || list[0].Source != want {
		t.Errorf("the history is %+v, %v, want %+v", list, err, want)
	}
	files, err := filepath.Glob(filepath.Join(g.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s has the secret", name)
		}
	}
}

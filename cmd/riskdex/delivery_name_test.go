package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestDeliveryCommand follows what was pushed by its name.
func TestDeliveryCommand(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0", "--history", "90d")
	p.start()
	p.indicesReady()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cities.json"), []byte(`[`+cityBody(1, "one")+`,`+cityBody(2, "two")+`]`), 0o600))
	var pushed struct{ Names []string }
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", []string{"push", dir, "--to", "http://" + p.deliveries, "--wait", "30s", "--json"}).out), &pushed))
	if len(pushed.Names) != 1 {
		t.Fatalf("the names are %q, want one", pushed.Names)
	}
	name := pushed.Names[0]
	p.expect(exitDone, "", []string{"delivery", name}, "Changes: 2. Newest of their document: 2.", "searchable: 2")
	if status := p.send(http.MethodPut, "/cities/1", cityBody(1, "newer")); status != http.StatusAccepted {
		t.Fatal(status)
	}
	p.expect(exitDone, "", []string{"delivery", name}, "Replaced by newer ones, and kept in history: 1.", "cities 1: in the index since ", "; replaced at ")
	var page admin.DeliveryPage
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", []string{"delivery", name, "--json"}).out), &page))
	if len(page.Items) != 2 || page.Items[0].State != admin.DocumentReplaced || page.Items[1].State != admin.DocumentSearchable || page.Replaced != 1 {
		t.Errorf("%+v", page)
	}
	p.ask(http.MethodDelete, "/"+p.prefix+"cities/_doc/2?refresh=true", "", nil)
	p.expect(exitNegative, "", []string{"delivery", name}, "cities 2: waiting")
	p.expect(exitFailed, "", []string{"delivery", name + "1"}, "not the name of a delivery")
}

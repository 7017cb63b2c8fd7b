package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// TestUnrepairedTroubleIsReported: a failed rebuild, the findings of a verification, and a probe
// that no search finds are troubles until they are over, even after kill -9.
func TestUnrepairedTroubleIsReported(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "100ms", "--refresh-share", "0")
	p.start()
	p.indicesReady()
	p.fill(10)
	eventually(t, "all is well", func() bool { return p.status().Well })
	p.ask("PUT", "/"+p.prefix+"probe-v1/_settings", `{"index.refresh_interval":"-1"}`, nil)

	// Somebody else has filled most of the index, and a swap would lose that.
	for i := range 30 {
		p.ask("PUT", fmt.Sprintf("/%scities-v1/_doc/foreign%d?refresh=true", p.prefix, i), `{"kind":"cities","title":"x"}`, nil)
	}
	p.expect(exitFailed, "", words("rebuild cities"), "failed")
	trouble := p.says(admin.TroubleRebuild)
	if trouble.Severity != admin.Warning || !strings.Contains(trouble.Detail, "10 documents") || !strings.Contains(trouble.Remedy, "riskdex rebuild --stop cities") {
		t.Errorf("the trouble is %+v, want a warning about the rebuild", trouble)
	}
	p.expect(exitNegative, "", words("verify cities"), "30 foreign")
	trouble = p.says(admin.TroubleDiffers)
	if trouble.Kind != "cities" || !strings.Contains(trouble.Detail, "30 documents") || !strings.Contains(trouble.Remedy, "riskdex verify --repair cities") {
		t.Errorf("the trouble is %+v, want one about 30 foreign cities", trouble)
	}
	told := func() bool {
		m := p.metrics()
		return m[`riskdex_rebuild_failed{kind="cities"}`] == 1 && m[`riskdex_verify_differences{kind="cities"}`] == 30
	}
	if !told() {
		t.Error("the metrics do not show the troubles")
	}
	p.says(admin.TroubleNotSearchable)
	p.expect(exitNegative, "", words("status"), "The rebuild of cities failed", "differs from the journal in 30 documents", "No search has found the probe")

	p.conserved()
	p.kill()
	p.start()
	p.expect(exitWarning, "", words("status"), "The rebuild of cities failed", "differs from the journal in 30 documents")
	if !told() {
		t.Error("after kill -9 the metrics do not show the troubles")
	}
	p.indicesReady()
	p.expect(exitDone, "", words("rebuild --stop cities"))
	p.expect(exitNegative, "", words("rebuild --stop cities"), "no rebuild")
	p.expect(exitDone, "", words("verify cities --repair --remove-foreign --yes"), "30 repaired")
	p.ask("PUT", "/"+p.prefix+"probe-v1/_settings", `{"index.refresh_interval":null}`, nil)
	for _, what := range []string{admin.TroubleRebuild, admin.TroubleDiffers, admin.TroubleNotSearchable} {
		eventually(t, what+" is over", func() bool {
			return !slices.ContainsFunc(p.status().Troubles, func(t admin.Trouble) bool { return t.What == what })
		})
	}
	eventually(t, "all is well again", func() bool { return p.command("", "status").status == exitDone })
}

// TestDocumentsDeletedInElasticsearchAreTold: somebody else deletes some while riskdex is stopped.
func TestDocumentsDeletedInElasticsearchAreTold(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.fill(20)
	p.terminate()
	for _, id := range []string{"3", "4", "5"} {
		p.ask("DELETE", "/"+p.prefix+"cities/_doc/"+id+"?refresh=true", "", nil)
	}
	p.start()
	trouble := p.says(admin.TroubleMissing)
	if trouble.Kind != report.Cities || trouble.Severity != admin.Critical || !strings.Contains(trouble.Detail, "3 documents of cities") {
		t.Errorf("the trouble is %+v, want a critical one about 3 cities", trouble)
	}
	if n := p.metrics()[`riskdex_documents_missing{kind="cities"}`]; n != 3 {
		t.Errorf("the metrics say that %v are missing", n)
	}
	p.expect(exitNegative, "", words("status"), "Searches do not find 3 documents of cities")
	p.expect(exitDone, "", words("verify cities --repair"), "3 repaired")
	eventually(t, "all is well", func() bool { return p.command("", "status").status == exitDone })
}

// TestLostIndexIsToldWhileItFills: an index that somebody removes is made again at once, and search
// gets an empty answer without an error. That is no time at which all is well.
func TestLostIndexIsToldWhileItFills(t *testing.T) {
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.fill(3000)
	eventually(t, "all is well", func() bool { return p.status().Well })
	p.ask("DELETE", "/"+p.prefix+p.behind(report.Cities), "", nil)
	p.send("PUT", "/cities/0", cityBody(0, "new"))
	trouble := p.says(admin.TroubleIncomplete)
	if trouble.Kind != report.Cities || trouble.Severity != admin.Critical || !strings.Contains(trouble.Detail, "still to be sent") {
		t.Errorf("the trouble is %+v, want a critical one about cities", trouble)
	}
	eventually(t, "all is well again", func() bool { return p.status().Well })
	if n := len(p.indexed(report.Cities)); n != 3000 {
		t.Errorf("all is said to be well, and the index has %d of 3000 cities", n)
	}
}

// TestDeletesThatAreSentAgainAreNoLoss: after a restart, recent deletes are sent again. That an
// index lacks what was deleted is no loss, also while nothing can be written to it.
func TestDeletesThatAreSentAgainAreNoLoss(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.indicesReady()
	p.fill(12)
	for i := range 12 {
		p.send("DELETE", fmt.Sprintf("/cities/%d", i), "")
	}
	p.send("PUT", "/special-reports/1", `{"title":"over"}`)
	p.send("PUT", "/special-reports/2", `{"title":"goes on"}`)
	p.send("DELETE", "/special-reports/1", "")
	p.drained()
	for _, kind := range []string{"cities", "special-reports"} {
		p.ask("PUT", "/"+p.prefix+kind+"-v1/_settings", `{"index.blocks.write":true}`, nil)
	}
	p.terminate()
	p.start()
	eventually(t, "both indices are held", func() bool { return len(p.status().Waiting) == 2 })
	for range 3 {
		st := p.status()
		if st.Kinds[0].Resending != 12 || slices.ContainsFunc(st.Troubles, func(t admin.Trouble) bool { return t.What != admin.TroubleHeld }) {
			t.Errorf("%d are sent again, and the troubles are %+v", st.Kinds[0].Resending, st.Troubles)
		}
	}
}

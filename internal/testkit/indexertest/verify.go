package indexertest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// QuickVerify returns a configuration for small data and short waits.
func QuickVerify() verify.Config {
	cfg := verify.DefaultConfig()
	cfg.Page = 7 // so that everything takes several pages
	cfg.FirstBackoff, cfg.LongestBackoff = 2*time.Millisecond, 50*time.Millisecond
	cfg.RepairWithin = 30 * time.Second
	return cfg
}

// Verifier returns a verifier of the rig's journal and indices.
func (r *Rig) Verifier(cfg verify.Config) *verify.Verifier {
	r.T.Helper()
	v, err := verify.New(cfg, r.Journal, r.Indices, r.Indices.Client)
	require.NoError(r.T, err)
	return v
}

// Verify compares the cities.
func (r *Rig) Verify(opt verify.Options) verify.Report {
	r.T.Helper()
	got, err := r.Verifier(QuickVerify()).Verify(r.T.Context(), report.Cities, opt)
	require.NoError(r.T, err)
	return got
}

// Path is the path of a city in the index.
func (r *Rig) Path(id, parameters string) string {
	return "/" + r.Indices.Alias(report.Cities) + "/_doc/" + url.PathEscape(id) + parameters
}

// External is the query of a write with that external version, as riskdex makes it.
func External(v report.Version) string { return fmt.Sprintf("?version_type=external&version=%d", v) }

// Entry returns the journal's entry of a city.
func (r *Rig) Entry(id string) report.Entry {
	r.T.Helper()
	entries, err := r.Journal.Lookup(r.T.Context(), report.Cities, []report.ID{report.ID(id)})
	require.NoError(r.T, err)
	if len(entries) != 1 {
		r.T.Fatalf("the journal knows %d documents %q", len(entries), id)
	}
	return entries[0]
}

// InIndex returns the version of a city in the index, or 0.
func (r *Rig) InIndex(id string) report.Version {
	r.T.Helper()
	if status, _ := r.Ask("HEAD", r.Path(id, ""), ""); status != http.StatusOK {
		return 0
	}
	_, answer := r.Ask("GET", r.Path(id, "?_source=false"), "")
	return report.Version(answer["_version"].(float64))
}

// SameAsJournal checks that the index has exactly what the journal has.
func (r *Rig) SameAsJournal() {
	r.T.Helper()
	entries, err := r.Journal.Entries(r.T.Context(), report.Cities, "", 1_000_000)
	require.NoError(r.T, err)
	live := 0
	for _, e := range entries {
		want := e.Version
		if e.Op == report.Delete {
			want = 0
		} else {
			live++
		}
		if got := r.InIndex(string(e.ID)); got != want {
			r.T.Errorf("%q has version %d in the index, want %d", e.ID, got, want)
		}
	}
	if n := r.Count(report.Cities); n != live {
		r.T.Errorf("%d documents in the index, want %d", n, live)
	}
}

package indexer_test

import (
	"encoding/json"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// fromThePast fills an index with two documents, deletes one, corrects the other, and
// adds a third. It calls snapshot before these changes.
func (r *rig) fromThePast(snapshot func()) {
	r.T.Helper()
	r.Append(indexertest.Index(report.Cities, "gone", `{"title":"old"}`), indexertest.Index(report.Cities, "corrected", `{"title":"old"}`))
	r.Drained()
	snapshot()
	r.Append(indexertest.Delete(report.Cities, "gone"), indexertest.Index(report.Cities, "corrected", `{"title":"new"}`), indexertest.Index(report.Cities, "added", `{"title":"new"}`))
	r.Drained()
}

// isCurrent waits until apps find what fromThePast delivered last.
func (r *rig) isCurrent() {
	r.T.Helper()
	r.Eventually("what was delivered since is there, and the deleted document is not", func() bool {
		return r.Document(report.Cities, "corrected")["title"] == "new" && r.Document(report.Cities, "added") != nil &&
			r.Document(report.Cities, "gone") == nil
	})
	r.Drained()
}

// mapping returns the mapping of an index, with its _meta.
func (r *rig) mapping(index string) string {
	r.T.Helper()
	_, answer := r.Ask("GET", "/"+index+"/_mapping", "")
	text, err := json.Marshal(answer[index].(map[string]any)["mappings"])
	require.NoError(r.T, err)
	return string(text)
}

// made returns the body that creates an index like this one: with its mapping, its _meta, and the
// settings that the mapping needs.
func (r *rig) made(index string) string {
	r.T.Helper()
	_, answer := r.Ask("GET", "/"+index, "")
	for _, state := range answer {
		state := state.(map[string]any)
		settings := state["settings"].(map[string]any)["index"].(map[string]any)
		text, err := json.Marshal(map[string]any{"mappings": state["mappings"], "settings": map[string]any{
			"analysis": settings["analysis"], "similarity": settings["similarity"], "max_shingle_diff": settings["max_shingle_diff"],
		}})
		require.NoError(r.T, err)
		return string(text)
	}
	r.T.Fatalf("%s: no such index", index)
	return ""
}

// TestIndexRestoredWhileStopped: the aliases come back with the index, as
// Elasticsearch restores them.
func TestIndexRestoredWhileStopped(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	v1, alias := r.Indices.Index(report.Cities, 1), r.Indices.Alias(report.Cities)
	var made string
	r.fromThePast(func() { made = r.made(v1) })
	r.Stop()
	r.Change("DELETE", "/"+v1, "")
	r.Change("PUT", "/"+v1, made)
	r.Change("PUT", "/"+v1+"/_alias/"+alias, `{"is_write_index":true}`)
	r.Change("PUT", "/"+v1+"/_alias/"+alias+"-filled", "")
	for _, id := range []string{"gone", "corrected"} {
		r.Change("PUT", "/"+v1+"/_doc/"+id+"?version=1&version_type=external", `{"source":{"title":"old"}}`)
	}
	r.restart(indexertest.Quick(), nil, nil)
	r.isCurrent()
}

// TestCloneBehindTheAlias: a clone of an index that riskdex kept in step is not kept in
// step itself.
func TestCloneBehindTheAlias(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	v1, alias := r.Indices.Index(report.Cities, 1), r.Indices.Alias(report.Cities)
	clone := v1 + "-clone"
	r.fromThePast(func() {
		r.Change("PUT", "/"+v1+"/_block/write", "")
		r.Change("PUT", "/"+v1+"/_clone/"+clone+"?wait_for_active_shards=1", `{"settings":{"index.blocks.write":null}}`)
		r.Change("PUT", "/"+v1+"/_settings", `{"index.blocks.write":null}`)
	})
	r.Stop()
	r.Change("DELETE", "/"+v1, "")
	r.Change("POST", "/_aliases", `{"actions":[{"add":{"index":"`+clone+`","alias":"`+alias+`"}},{"add":{"index":"`+clone+`","alias":"`+alias+`-filled"}}]}`)
	r.restart(indexertest.Quick(), nil, nil)
	r.isCurrent()
}

// sent returns how many writes an index has seen, whatever their result.
func (r *rig) sent(index string) float64 {
	r.T.Helper()
	_, answer := r.Ask("GET", "/"+index+"/_stats/indexing", "")
	n := answer["_all"].(map[string]any)["primaries"].(map[string]any)["indexing"].(map[string]any)
	return n["index_total"].(float64) + n["index_failed"].(float64) + n["delete_total"].(float64)
}

// TestNothingIsSentAgainAfterAStart to an index that has riskdex's mark, or that an older
// riskdex has made without one.
func TestNothingIsSentAgainAfterAStart(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(r *rig) (index string){
		"first":   func(r *rig) string { return r.Indices.Index(report.Cities, 1) },
		"rebuilt": func(r *rig) string { r.rebuild(); r.only(2); return r.Indices.Index(report.Cities, 2) },
		"unmarked": func(r *rig) string {
			v1 := r.Indices.Index(report.Cities, 1)
			mapping := r.mapping(v1)
			r.Stop()
			meta := map[string]any{}
			require.NoError(r.T, json.Unmarshal([]byte(mapping), &meta))
			delete(meta["_meta"].(map[string]any)["riskdex"].(map[string]any), "uuid")
			text, err := json.Marshal(meta["_meta"])
			require.NoError(r.T, err)
			r.Change("PUT", "/"+v1+"/_mapping", `{"_meta":`+string(text)+`}`)
			return v1
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, rebuilding())
			r.Append(indexertest.Many(report.Cities, 30, "text")...)
			r.Drained()
			filled := before(r)
			sent := r.sent(filled)
			for range 2 {
				r.restart(rebuilding(), nil, nil)
				r.Append(indexertest.Index(report.Cities, "next", `{"title":"next"}`))
				r.Drained()
				sent++
			}
			if got := r.sent(filled); got != sent {
				t.Errorf("%v writes, want %v", got, sent)
			}
			r.complete()
		})
	}
}

package indexer_test

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// strange returns the PUT of a city in a shape that no name of a field explains.
func strange(id, name, country, level string, a, b float64) report.Change {
	return indexertest.Index(report.Cities, id, fmt.Sprintf(`{"kopf":{"zzA":%q,"zzB":%q},"zzC":%q,"zzD":%g,"zzE":%g,"zzF":"q-%s"}`, name, country, level, a, b, id))
}

func strangers() []report.Change {
	return []report.Change{
		strange("a1", "London", "United Kingdom", "yellow", 51.51, -0.12),
		strange("a2", "Paris", "France", "yellow", 48.86, 2.34),
		strange("a3", "Lagos", "Nigeria", "red", 6.46, 3.39),
		strange("a4", "Tokyo", "Japan", "green", 35.68, 139.69),
		strange("a5", "Lima", "Peru", "orange", -12.05, -77.04),
		strange("a6", "Nairobi", "Kenya", "orange", -1.29, 36.82),
		strange("a7", "Oslo", "Norway", "green", 59.92, 10.74),
		strange("a8", "Baghdad", "Iraq", "red", 33.34, 44.4),
	}
}

// fields returns the fields of a document in the index.
func fields(r *rig, id string) map[string]any {
	r.T.Helper()
	_, answer := r.Ask("GET", "/"+r.Indices.Alias(report.Cities)+"/_doc/"+id, "")
	source, _ := answer["_source"].(map[string]any)
	return source
}

// reads fails the test unless a document has what its record says.
func reads(r *rig, id, country string, level float64) {
	r.T.Helper()
	r.Eventually(id+" has the country "+country, func() bool {
		source := fields(r, id)
		return source["country"] == country && source["risk_level"] == level && source["location"] != nil
	})
}

// TestFirstFeedIsReadByItsValues: the first delivery is right in the index from the beginning, which is
// not rebuilt, and a restart changes nothing.
func TestFirstFeedIsReadByItsValues(t *testing.T) {
	t.Parallel()
	r := start(t, rebuilding())
	r.Append(strangers()...)
	r.Drained()
	reads(r, "a1", "GB", 2)
	reads(r, "a8", "IQ", 5)
	r.only(1)
	r.restart(rebuilding(), indexertest.Plain(t), nil)
	r.Append(strange("a9", "Bogotá", "Colombia", "orange", 4.61, -74.08))
	r.Drained()
	reads(r, "a9", "CO", 4)
	r.only(1)
}

// TestMoreRecordsTellMore: what came one by one, and told nothing, is read again once there is enough.
func TestMoreRecordsTellMore(t *testing.T) {
	t.Parallel()
	r := start(t, rebuilding())
	all := strangers()
	r.Append(all[0])
	r.Drained()
	if source := fields(r, "a1"); source["country"] != nil {
		t.Fatalf("one record tells the country: %v", source)
	}
	for _, c := range all[1:] {
		r.Append(c)
		r.Drained()
	}
	reads(r, "a1", "GB", 2)
	reads(r, "a8", "IQ", 5)
	r.only(2)
	r.complete()
}

// TestSecondPublisherIsReadToo: records of another shape are read by their own values, those before stay.
func TestSecondPublisherIsReadToo(t *testing.T) {
	t.Parallel()
	r := start(t, rebuilding())
	r.Append(strangers()...)
	r.Drained()
	for i, c := range strangers() {
		c.ID = report.ID(fmt.Sprint("b", i+1))
		c.Body = []byte(strings.NewReplacer("kopf", "tete", "zzA", "qa", "zzB", "qb", "zzC", "qc", "zzD", "qd", "zzE", "qe", "zzF", "qf").Replace(string(c.Body)))
		r.Append(c)
		r.Drained()
	}
	reads(r, "b1", "GB", 2)
	reads(r, "b8", "IQ", 5)
	reads(r, "a8", "IQ", 5)
	r.only(2)
	r.complete()
}

package mappings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// expected is in how many percent of the documents of a kind a field should be, at least, unless its
// file says that the feed is without it.
//
// In the nine feeds of relevance/exam/testdata/strangers, each report has a title, 94 % and more have a
// country, 87 % of cities and advisories a level, and 89 % of cities a position. So a field in fewer than
// half of them is not read; of titles, which have no substitute, a tenth that is missing is too much.
// Special reports may be about a topic, without a level, anywhere in the world; only cities have to be
// somewhere.
var expected = map[report.Kind]map[string]int{
	report.Cities:         {"title": 90, "country": 50, "risk_level": 50, "location": 50},
	report.Advisories:     {"title": 90, "country": 50, "risk_level": 50},
	report.SpecialReports: {"title": 90},
}

// counted are the fields whose documents are counted; those of cities come last.
var counted = []string{
	"title", "country", "risk_level", "location", "places", "threats", "starts_at", "ends_at", "published_at", "updated_at",
	"code", "names", "airports",
}

const ofCities = 3

// Fields returns the fields of a kind whose documents are counted, with those that should have them, and
// counts at 0.
func (s *Set) Fields(kind report.Kind) []report.FieldCount {
	names := counted
	if kind != report.Cities {
		names = counted[:len(counted)-ofCities]
	}
	without := s.kinds[kind].stated.Without
	all := make([]report.FieldCount, len(names))
	for i, name := range names {
		all[i].Field = name
		if !slices.Contains(without, name) {
			all[i].Expected = expected[kind][name]
		}
	}
	return all
}

// checkWithout adds the mistakes in what a file says that its feed is without.
func (m *kindMapping) checkWithout(data []byte, wrong *Mistakes) {
	for i, name := range m.Without {
		if expected[report.Cities][name] == 0 {
			wrong.add(data, jsontext.Pointer(fmt.Sprintf("/without/%d", i)), `without: %q is not expected of any feed; it can be "title", "country", "risk_level" or "location"`, name)
		}
	}
}

// FieldsBody returns the body of a search that counts the documents of a kind by the fields that they have.
// It finds none, so it costs little, and nothing while the index does not change.
func (s *Set) FieldsBody(kind report.Kind) []byte {
	var filters []string
	for _, f := range s.Fields(kind) {
		filters = append(filters, fmt.Sprintf(`%q:{"exists":{"field":%[1]q}}`, f.Field))
	}
	return []byte(`{"size":0,"track_total_hits":true,"aggs":{"with":{"filters":{"filters":{` + strings.Join(filters, ",") + `}}}}}`)
}

// ReadFields reads the answer to a search whose body was made by FieldsBody.
func (s *Set) ReadFields(kind report.Kind, answer []byte) (report.Fields, error) {
	var found struct {
		Hits struct {
			Total struct {
				Value int `json:"value"`
			} `json:"total"`
		} `json:"hits"`
		Aggregations struct {
			With struct {
				Buckets map[string]struct {
					Documents int `json:"doc_count"`
				} `json:"buckets"`
			} `json:"with"`
		} `json:"aggregations"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return report.Fields{}, fmt.Errorf("reading the answer: %w", err)
	}
	all := report.Fields{Documents: found.Hits.Total.Value, Fields: s.Fields(kind)}
	for i, f := range all.Fields {
		bucket, has := found.Aggregations.With.Buckets[f.Field]
		if !has {
			return report.Fields{}, fmt.Errorf("reading the answer: it does not say how many documents have %s", f.Field)
		}
		all.Fields[i].Documents = bucket.Documents
	}
	all.Judge()
	return all, nil
}

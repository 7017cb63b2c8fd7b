package receiver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/testkit/require"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// TestVendorIDs uses the records in mappings/testdata, whose ids no setting names.
func TestVendorIDs(t *testing.T) {
	files, err := filepath.Glob("../mappings/testdata/shapes/*.json")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d shapes, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var shape struct {
			Kind   report.Kind
			ID     *string
			Record jsontext.Value
		}
		require.NoError(t, json.Unmarshal(text, &shape, json.MatchCaseInsensitiveNames(true)))
		d := open(t, nil)
		got := d.send("POST", "/"+string(shape.Kind), string(shape.Record))
		want := "LIM" // the code if there is not an id
		if shape.ID != nil {
			pointers, err := parsePointers([]string{*shape.ID})
			require.NoError(t, err)
			want, _ = scalarText(jsonscan.Lookup(shape.Record, pointers[0]))
		}
		if got.status != 202 || len(d.changes()) != 1 || string(d.changes()[0].ID) != want {
			t.Errorf("%s: %+v, %+v, want %s", file, got, d.changes(), want)
		}
	}
}

// TestUnclearIDs: a delivery whose ids are not certain is refused as a whole, and the
// answer lists the places where ids may be. A record without any sign of an id goes by
// its code.
func TestUnclearIDs(t *testing.T) {
	for name, c := range map[string]struct {
		path, body string
		ids        string // of the accepted changes, in order; "" if the delivery is refused as a whole
		says       []string
	}{
		"one place":            {"cities", `[{"cityReportId":1,"iata":"LHR"},{"cityReportId":2}]`, "1 2", nil},
		"two places":           {"cities", `[{"documentId":"d1","reportId":"r1","iata":"LHR"},{"documentId":"d2","reportId":"r2"}]`, "", []string{`/documentId ("d1", in 2)`, `/reportId ("r1", in 2)`, "--ids cities="}},
		"the same twice":       {"cities", `{"documentId":"d1","sys":{"id":"d1"},"iata":"LHR"}`, "d1", nil},
		"here and there":       {"cities", `[{"cityReportId":1,"code":"LON"},{"docId":2,"code":"PAR"}]`, "", []string{"/cityReportId", "/docId"}},
		"not certain":          {"cities", `[{"cmsId":1,"iata":"LHR"},{"cmsId":2,"title":"x"}]`, "", []string{`/cmsId ("1", in 2)`, "--ids cities=/cmsId", "as in cities=/id,/cmsId"}},
		"a bare number":        {"advisories", `[{"number":"A-1","title":"x"}]`, "", []string{"/number"}},
		"a user by reference":  {"advisories", `[{"uid":[{"target_id":7}],"nid":[{"value":5}],"title":"x"}]`, "5", nil},
		"its uid":              {"advisories", `[{"uid":"7f3a","title":"x"}]`, "7f3a", nil},
		"versions of it":       {"advisories", `[{"versionId":7,"revision_id":8,"vid":9,"reportId":"r1","title":"x"}]`, "r1", nil},
		"of its category":      {"cities", `[{"code":"LON","categoryId":1,"typeId":2,"regionId":3,"languageId":4}]`, "LON", nil},
		"what it is about":     {"advisories", `{"eventId":9,"title":"x"}`, "", []string{`/eventId ("9", in 1)`, "--ids advisories=/eventId"}},
		"where it is":          {"cities", `[{"destinationId":"NO","name":"Oslo"}]`, "", []string{`/destinationId`}},
		"its own, about it":    {"special-reports", `{"event":{"id":9},"documentId":"d1"}`, "d1", nil},
		"one of several":       {"cities", `[{"travelReportId":"NO","name":"Oslo"},{"travelReportId":"NO","name":"Bergen"}]`, "", []string{`/travelReportId ("NO", in 2, "NO" in more than one of them)`}},
		"the same record":      {"cities", `[{"travelReportId":"NO","name":"Oslo"},{"travelReportId":"NO","name":"Oslo"}]`, "NO NO", nil},
		"of others":            {"cities", `[{"code":"LON","countryId":44,"authorId":3,"parent":{"id":1}},{"code":"PAR","region":{"id":2}}]`, "LON PAR", nil},
		"codes by their words": {"cities", `[{"CITY_CODE":"LON"},{"IATA":"PAR"}]`, "LON PAR", nil},
		"known beside unknown": {"cities", `[{"id":1},{"reportId":"r2"},{"code":"PAR"}]`, "1 PAR", []string{"/reportId"}},
		"one lacks it":         {"cities", `[{"cityReportId":1},{"code":"PAR"}]`, "1 PAR", nil},
		"of GeoNames":          {"cities", `[{"geonameId":2643743,"name":"London","iata":"LHR"},{"geoname_id":3451190,"name":"Rio"}]`, "", []string{`/geonameId ("2643743", in 1)`, `/geoname_id`}},
		"of GeoNames, plural":  {"cities", `[{"geonamesId":2643743,"code":"LON"}]`, "", []string{`/geonamesId`}},
		"number, shortened":    {"cities", `[{"reportNo":"R-1","iata":"LHR"},{"reportNo":"R-2"}]`, "R-1 R-2", nil},
		"of a document":        {"cities", `[{"doc_no":"R-1","iata":"LHR"},{"docNumber":"R-2"}]`, "", []string{`/doc_no`, `/docNumber`}},
		"in German":            {"cities", `[{"Aktenzeichen":"A7/1","iata":"LHR"},{"Aktenzeichen":"A7/2"}]`, "", []string{`/Aktenzeichen ("A7/1", in 2)`}},
		"by no known name":     {"cities", `[{"zzKopf":"a1","hash":"9f","title":"London","code":"LON"},{"zzKopf":"a2","hash":"7e","title":"Rio"}]`, "", []string{`/zzKopf ("a1", in 2)`, `/hash ("9f", in 2)`}},
		"unknown, all coded":   {"cities", `[{"zzKopf":"a1","code":"LON"},{"zzKopf":"a2","code":"PAR"}]`, "LON PAR", nil},
		"unknown, all alike":   {"cities", `[{"zzKopf":"a1","code":"LON"},{"zzKopf":"a1","title":"Rio"}]`, "LON", nil},
		"its rank, no id":      {"cities", `[{"population":"9 million","lat":51.5,"code":"LON"},{"population":"6 million","lat":-22.9,"title":"Rio"}]`, "LON", nil},
		"a record with data":   {"cities", `{"cityReportId":7,"name":"x","data":[{"note":"y"}]}`, "7", nil},
		"in an envelope":       {"cities", `{"data":{"cityReportId":7,"name":"x"}}`, "7", nil},
		"list in an envelope":  {"cities", `{"data":[{"cityReportId":7},{"cityReportId":8}],"reportId":"feed"}`, "7 8", nil},
		"deeper":               {"special-reports", `{"header":{"document":{"identifier":"x/1"}},"author":{"id":4}}`, "x/1", nil},
	} {
		d := open(t, nil)
		got := d.send("POST", "/"+c.path, c.body)
		var ids []string
		for _, change := range d.changes() {
			ids = append(ids, string(change.ID))
		}
		if strings.Join(ids, " ") != c.ids || (c.ids == "") != (got.status == 422 && got.Reason == reasonNoID) {
			t.Errorf("%s: ids %v, answered %+v", name, ids, got)
		}
		detail := got.Detail
		for _, r := range got.Refused {
			detail += r.Detail
		}
		for _, says := range c.says {
			if !strings.Contains(detail, says) {
				t.Errorf("%s: the answer says %q, want %q in it", name, detail, says)
			}
		}
		if c.ids == "" && (len(d.refusals()) != 1 || d.refusals()[0].Position != -1 || string(d.refusals()[0].Body) != c.body) {
			t.Errorf("%s: kept %+v, want the delivery as a whole", name, d.refusals())
		}
	}
}

// TestIDsOfOthers: the id of a user, a version or a place of a record is never its own.
func TestIDsOfOthers(t *testing.T) {
	for _, record := range []string{
		`{"uid":7,"title":"x"}`, `{"uid":{"id":7},"title":"x"}`, `{"versionId":7,"revisionNumber":8,"title":"x"}`, `{"author":{"uuid":"a1"},"title":"x"}`,
		`{"location":{"reference":"p1"},"title":"x"}`, `{"country":{"id":3},"region":{"code":"r"},"title":"x"}`, `{"parent":{"guid":"p"},"category":{"key":"c"},"title":"x"}`,
		`{"slug":"floods-in-jakarta","title":"x"}`, `{"sections":[{"id":1}],"title":"x"}`, `{"places":[{"uuid":"p"}],"title":"x"}`,
	} {
		d := open(t, nil)
		if got := d.send("POST", "/advisories", `[`+record+`]`); got.status != 422 || len(d.changes()) != 0 {
			t.Errorf("%s: %+v, %+v", record, got, d.changes())
		}
	}
}

// TestStatedIDsAreNotGuessed: if the operator configures where ids are, no other member
// is one.
func TestStatedIDsAreNotGuessed(t *testing.T) {
	d := open(t, func(c *Config) { c.IDs = map[report.Kind][]string{report.Cities: {"/reportId"}} })
	if got := d.send("POST", "/cities", `[{"documentId":"d1","reportId":"r1"},{"documentId":"d2"}]`); got.Accepted != 1 || len(got.Refused) != 1 || d.changes()[0].ID != "r1" {
		t.Errorf("answered %+v, want r1 accepted and the other record refused", got)
	}
}

// TestPutKnowsItsOwnID: a PUT under a code has the document's id in a member that is
// recognised by the words of its name.
func TestPutKnowsItsOwnID(t *testing.T) {
	d := open(t, nil)
	d.send("PUT", "/cities/LON", `{"CityReportId":130,"CityCode":"lon"}`)
	d.send("PUT", "/cities/LON", `{"documentId":130,"reportId":131}`)
	if got := d.changes(); len(got) != 2 || got[0].OwnID != "130" || got[0].Code != "LON" || got[1].OwnID != "" {
		t.Errorf("changes %+v, want the first with its own id and the second without", got)
	}
}

// TestEnvelopeWithMoreIsRefused: what stands beside the records and may hold more of them, or ids of what
// was deleted, is not passed over.
func TestEnvelopeWithMoreIsRefused(t *testing.T) {
	for _, body := range []string{
		`{"cities":[{"id":1}],"items":[{"id":2}]}`,
		`{"data":{"cities":[{"id":1}],"items":[{"id":2}]}}`,
		`{"cities":[{"id":1}],"errors":[{"message":"x"}]}`,
		`{"cities":[{"id":1}],"updated":[{"id":2}]}`,
		`{"cities":[{"id":1}],"deleted":["2"]}`,
		`{"city":{"id":1},"cities":[{"id":2},{"id":3}]}`,
	} {
		d := open(t, nil)
		got := d.send("POST", "/cities", body)
		if len(d.changes()) > 0 || got.status != 422 || got.Reason != reasonNoID || len(d.refusals()) != 1 {
			t.Errorf("%s: %d changes, answered %+v", body, len(d.changes()), got)
		}
	}
}

package receiver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/testkit/require"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// elements returns n records in a list, each made by format of its number.
func elements(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i+1))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// richText has as many values as records have, and parts of one seldom do.
const richText = `"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"k":9,"l":"x","m":"y","n":"z"`

func rich(number, more string) string {
	return `{"cityRef":"c` + number + `",` + richText + `,"cc":` + more + `}`
}

// keyed13 are thirteen records in an object, by a name that is not an id.
var keyed13 = func() string {
	var all []string
	for i := range 13 {
		all = append(all, `"paris-`+string(rune('a'+i))+`":`+rich(fmt.Sprint(i+2), `"FR"`))
	}
	return "{" + strings.Join(all, ",") + "}"
}()

// counted has thirteen records in an object, by their position; one was removed.
func counted(record func(number, more string) string) string {
	var all []string
	for i := range 13 {
		all = append(all, fmt.Sprintf(`"%d":%s`, i+i/5, record(fmt.Sprint(i+1), `"FR"`)))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// placed returns n rich records about places in several countries.
func placed(n int, id string) string {
	lands := []string{"FR", "Kenya", "PER", "日本"}
	var all []string
	for i := range n {
		all = append(all, strings.ReplaceAll(`{`+id+`,`+richText+`,"land":"`+lands[i%len(lands)]+`"}`, "#", fmt.Sprint(i+1)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestPayloads: the records of a payload are found, and the id of each, whatever the names of the
// envelope and of the member with the id.
func TestPayloads(t *testing.T) {
	const text = `"All is calm in the city, and has been for years."`
	for name, c := range map[string]struct {
		kind, body string
		records    int
		first      string // id
		kept       string // of the first, if not empty
	}{
		"a table exported":         {"cities", `{"TABELLE":"V_EXPORT","MANDANT":"014","STAND":"26.11.2026 03:15:00","ANZAHL_SAETZE":12,"ZEICHENSATZ":"UTF-8","SAETZE":` + elements(12, `{"BERICHT_NR":14#,"SATZART":"STB","ORTSNAME":"Abidjan","ORT_KURZ":"ABJ"}`) + `}`, 12, "141", ""},
		"OData":                    {"cities", `{"@odata.context":"https://x.example/$metadata#By","@odata.count":12,"value":` + elements(12, `{"@odata.etag":"W/#","ByvurderingId":"b0#","Overskrift":"Oslo #","Publisert":"2026-06-#","Arkivnøkkel":"21/0#","Sjekksum":"f3#"}`) + `}`, 12, "b01", ""},
		"GeoJSON, ids in it":       {"cities", `{"type":"FeatureCollection","name":"profiles","bbox":[1.5,2.5],"features":` + elements(12, `{"type":"Feature","geometry":null,"properties":{"identifier":"urn:x:#","title":"x"}}`) + `}`, 12, "urn:x:1", ""},
		"Atom":                     {"advisories", `{"feed":{"title":"All advisories","updated":"2026-11-27T10:00:00Z","entry":` + elements(12, `{"id":"a#","title":"x","content":`+text+`}`) + `}}`, 12, "a1", ""},
		"a JSON feed":              {"advisories", `{"version":"https://jsonfeed.org/version/1.1","title":"All","items":` + elements(12, `{"id":"a#","title":"x"}`) + `}`, 12, "a1", ""},
		"JSON-LD":                  {"advisories", `{"@context":"https://schema.org","@graph":` + elements(12, `{"@id":"a#","title":"x"}`) + `}`, 12, "a1", ""},
		"cursors like words":       {"cities", `{"data":{"cities":{"edges":[` + `{"cursor":"azow","node":{"id":"c1","title":"x"}},{"cursor":"azo0","node":{"id":"c2"}},{"cursor":"azoxMA==","node":{"id":"c3"}}` + `]}}}`, 3, "c1", `{"id":"c1","title":"x"}`},
		"GraphQL":                  {"cities", `{"data":{"cities":{"edges":` + elements(3, `{"cursor":"YXJyYXk=","node":{"id":"c#","title":"x"}}`) + `,"pageInfo":{"hasNextPage":false,"endCursor":"YXJyYXk="}}}}`, 3, "c1", `{"id":"c1","title":"x"}`},
		"Solr":                     {"cities", `{"responseHeader":{"status":0,"QTime":1},"response":{"numFound":2,"start":0,"docs":` + elements(2, `{"id":"c#","title":"x"}`) + `}}`, 2, "c1", ""},
		"events":                   {"cities", elements(3, `{"event":"city.updated","message_id":"m#","payload":{"before":{"id":"c#","title":"w"},"after":{"id":"c#","title":"x"}}}`), 3, "c1", `{"id":"c1","title":"x"}`},
		"events with ids":          {"cities", elements(3, `{"id":"m#","type":"city.updated","data":{"id":"c#","title":"x"}}`), 3, "c1", `{"id":"c1","title":"x"}`},
		"ids of others":            {"advisories", elements(12, `{"authorId":"a#","parentId":"p#","MeldungsKennung":"m#","title":"x"}`), 12, "m1", ""},
		"one that is not unique":   {"advisories", elements(12, `{"documentId":"same","reportId":"r#","title":"x"}`), 12, "r1", ""},
		"an id within a part":      {"advisories", elements(12, `{"kopfId":"k#","mappe":{"aktId":"m#"},"title":"x"}`), 12, "k1", ""},
		"twice the same":           {"advisories", elements(12, `{"kopfId":"k#","aktId":"k#","title":"x"}`), 12, "k1", ""},
		"a table beside them":      {"cities", `{"cities":` + elements(3, `{"id":"c#","level":2,"text":`+text+`}`) + `,"levels":[{"id":1,"name":"Low"},{"id":2,"name":"High"}],"meta":{"colours":{"1":"green","2":"red"},"count":3}}`, 3, "c1", `{"cities":{"id":"c1","level":2,"text":` + text + `},"levels":[{"id":1,"name":"Low"},{"id":2,"name":"High"}],"meta":{"colours":{"1":"green","2":"red"}}}`},
		"a table of other values":  {"cities", `{"cities":` + elements(3, `{"id":"c#"}`) + `,"meta":{"colours":{"x":"green","y":"red"}}}`, 3, "c1", `{"id":"c1"}`},
		"by id":                    {"cities", `{"cities":{"c1":{"title":"x"},"c2":{"title":"y"}},"count":2}`, 2, "c1", `{"title":"x","id":"c1"}`},
		"by code, with ids":        {"cities", `{"cities":{"LON":{"id":1,"title":"x"},"PAR":{"id":2,"title":"y"}}}`, 2, "1", `{"id":1,"title":"x"}`},
		"by country":               {"cities", `{"event":"city.all.sent","payload":{"version":7,"data":{"GB":{"london":` + rich("1", `"FR"`) + `},"FR":` + keyed13 + `}}}`, 14, "c1", rich("1", `"FR","group":"GB"`)},
		"by position":              {"cities", `{"LIST":` + counted(rich) + `}`, 13, "c1", rich("1", `"FR"`)},
		"a page of HAL":            {"cities", `{"_embedded":{"dossierList":` + elements(12, `{"id":"c#",`+richText+`}`) + `},"_links":{"self":{"href":"https://x.example/c"}},"page":{"size":20,"totalElements":12,"totalPages":1,"number":0}}`, 12, "c1", ""},
		"whatever is beside":       {"cities", `{"zz":{"foo":{"bar":7,"on":true},"baz":[1,2]},"anzahl":12,"daten":{"liste":` + elements(12, `{"id":"c#",`+richText+`}`) + `}}`, 12, "c1", ""},
		"lists of one":             {"cities", elements(12, `{"kopf.id":[90#],"name.short":["x#"]}`), 12, "901", ""},
		"a legend beside them":     {"cities", `{"result_cd":"00","result_msg":"ok","legend":[{"rank":"x","means":"calm"},{"rank":"y","means":"not"}],"zz":` + elements(12, `{"id":"c#",`+richText+`}`) + `}`, 12, "c1", ""},
		"referred to":              {"advisories", elements(12, `{"i":90#,"hs":"f#","t":"x","rf":[901,902,903]}`), 12, "901", ""},
		"beside a UUID":            {"cities", elements(2, `{"nid":#,"uuid":"77ce-#","title":"x"}`), 2, "1", ""},
		"only a UUID":              {"cities", elements(2, `{"vid":#,"uuid":"77ce-#","title":"x"}`), 2, "77ce-1", ""},
		"tables of objects":        {"cities", `{"lk":{"rl":{"1":{"e":"Low"},"2":{"e":"High"}},"tp":{"7":{"e":"Crime"}}},"d":` + elements(12, `{"i":90#,"rl":2,"rf":[901,902,903],`+richText+`}`) + `}`, 12, "901", `{"d":{"i":901,"rl":2,"rf":[901,902,903],` + richText + `},"lk":{"rl":{"1":{"e":"Low"},"2":{"e":"High"}},"tp":{"7":{"e":"Crime"}}}}`},
		"said of the delivery":     {"cities", `{"export":{"site":"A site","bundle":"city_guide"},"zz":` + elements(12, `{"id":"c#",`+richText+`}`) + `,"pager":{"page":1,"of":1}}`, 12, "c1", ""},
		"changes of a table":       {"cities", elements(4, `{"schema":{"fields":[{"name":"id"}]},"payload":{"before":null,"after":{"city_id":#,"title":"x"},"source":{"db":"x"},"op":"r"}}`), 4, "1", `{"city_id":1,"title":"x"}`},
		"bodies of messages":       {"cities", `{"Records":` + elements(3, `{"messageId":"m#","body":"{\"cityId\":#,\"title\":\"A report whose text is long\"}"}`) + `}`, 3, "1", `{"cityId":1,"title":"A report whose text is long"}`},
		"columns and rows":         {"cities", `{"schema":{"columns":[{"pos":0,"name":"ref_id"},{"pos":1,"name":"land"},{"pos":2,"name":"text"}]},"rows":[["r1","FR","x"],["r2","Kenya","y"],["r3","PER","z"]],"more":false}`, 3, "r1", `{"ref_id":"r1","land":"FR","text":"x"}`},
		"a sheet":                  {"cities", `[["id","country","level"],["r1","FR",1],["r2","Kenya",2],["r3","PER",3]]`, 3, "r1", `{"id":"r1","country":"FR","level":1}`},
		"about places":             {"cities", `{"ok":true,"zz":{"took":12,"qq":` + placed(12, `"ref_id":"c#"`) + `},"colours":[{"k":"x","t":"red"},{"k":"y","t":"green"}]}`, 12, "c1", ""},
		"an answer with an id":     {"cities", `{"jsonrpc":"2.0","id":41,"result":{"length":12,"records":` + placed(12, `"id":#`) + `}}`, 12, "1", ""},
		"places by reference":      {"cities", `{"zz":` + elements(12, `{"id":"c#","of":["l1","l2","l3"],`+richText+`}`) + `,"lands":[{"id":"l1","land":"FR"},{"id":"l2","land":"Kenya"},{"id":"l3","land":"PER"}]}`, 12, "c1", ""},
		"a graph of several kinds": {"cities", `{"@context":"x","@graph":[{"@id":"d","@type":"Dataset","name":"x"},{"@id":"l1","@type":"Country","land":"FR"},{"@id":"l2","@type":"Country","land":"Kenya"},{"@id":"l3","@type":"Country","land":"PER"},` + strings.Trim(elements(12, `{"@id":"c#","@type":["Report"],"part":"d","of":["l1","l2","l3"],"text":`+text+`,"more":`+text+`}`), "[]") + `]}`, 12, "c1", ""},
		"a link to itself":         {"cities", `{"_embedded":{"cities":` + elements(12, `{"title":"x","_links":{"self":{"href":"https://x.example/cities/9#"},"images":{"href":"https://x.example/i/7#"}}}`) + `}}`, 12, "91", ""},
		"values with types":        {"cities", `{"results":{"bindings":` + elements(12, `{"report":{"type":"uri","value":"urn:x:#"},"title":{"type":"literal","value":"x"}}`) + `}}`, 12, "urn:x:1", ""},
		"a text node":              {"advisories", `{"rss":{"channel":{"title":"x","item":` + elements(12, `{"title":"x","guid":{"@isPermaLink":"false","$t":"tag:x.example,2026:#"}}`) + `}}}`, 12, "tag:x.example,2026:1", ""},
		"keys of one form":         {"cities", `{"cityReports":{"-OtfkkLF":{"title":"x"},"-O_dlA18":{"title":"y"},"-Og8nssY":{"title":"y"}}}`, 3, "-OtfkkLF", `{"title":"x","id":"-OtfkkLF"}`},
		"ids, some of letters":     {"cities", `{"Items":[` + strings.Trim(elements(11, `{"ReportId":{"S":"CR-#"},"t":{"S":"x"}}`), "[]") + `,{"ReportId":{"S":"CR-ABC"},"t":{"S":"x"}}]}`, 12, "CR-1", ""},
		"JSON:API": {"cities", `{"jsonapi":{"version":"1.1"},"data":` + elements(3, `{"type":"city","id":"#","relationships":{"country":{"data":{"type":"country","id":"#"}}}}`) +
			`,"included":[{"type":"country","id":"1","attributes":{"name":"Chad"},"relationships":{"zone":{"data":{"type":"zone","id":"1"}}}},{"type":"country","id":"2"},{"type":"country","id":"3"},{"type":"zone","id":"1"}]}`, 3, "1",
			`{"data":{"type":"city","id":"1","relationships":{"country":{"data":{"type":"country","id":"1"}}}},"included":[{"type":"country","id":"1","attributes":{"name":"Chad"},"relationships":{"zone":{"data":{"type":"zone","id":"1"}}}},{"type":"zone","id":"1"}]}`},
		"HAL": {"cities", `{"_embedded":{"cities":` + elements(3, `{"id":"c#","countryId":"k#","text":`+text+`}`) + `,"countries":[{"id":"k1","name":"Chad"},{"id":"k2","name":"Mali"},{"id":"k3","name":"Peru"}]},"_links":{"self":{"href":"/cities"}}}`, 3, "c1", ""},
		"Contentful": {"cities", `{"sys":{"type":"Array"},"total":2,"items":` + elements(2, `{"sys":{"id":"c#","type":"Entry"},"fields":{"country":{"sys":{"type":"Link","linkType":"Entry","id":"k#"}},"text":`+text+`}}`) +
			`,"includes":{"Entry":[{"sys":{"id":"k1","type":"Entry"},"fields":{"name":"Chad"}},{"sys":{"id":"k2","type":"Entry"},"fields":{"name":"Mali"}}]}}`, 2, "c1",
			`{"items":{"sys":{"id":"c1","type":"Entry"},"fields":{"country":{"sys":{"type":"Link","linkType":"Entry","id":"k1"}},"text":` + text + `}},"includes":{"Entry":[{"sys":{"id":"k1","type":"Entry"},"fields":{"name":"Chad"}}]}}`},
	} {
		d := open(t, nil)
		got := d.send("POST", "/"+c.kind, c.body)
		changes := d.changes()
		if got.status != 202 || len(changes) != c.records || string(changes[0].ID) != c.first {
			t.Errorf("%s: %d changes %.300v, answered %+v", name, len(changes), changes, got)
			continue
		}
		if c.kept != "" && string(changes[0].Body) != c.kept {
			t.Errorf("%s: kept\n%s, want\n%s", name, changes[0].Body, c.kept)
		}
		// A PUT of what was kept leaves the same record.
		d.send("PUT", "/"+c.kind+"/"+c.first, string(changes[0].Body))
		if again := d.changes(); len(again) != c.records+1 || string(again[c.records].Body) != string(changes[0].Body) {
			t.Errorf("%s: the PUT of %s leaves %s", name, changes[0].Body, again[len(again)-1].Body)
		}
	}
}

// TestFeeds: payloads of feeds that others have written, of a dozen cities each, have the ids that
// those who wrote them say. What a PUT brings is kept, but for what a sender says of the delivery.
func TestFeeds(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*.json")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var feed struct {
			IDs    []string       `json:"ids"`
			Cities jsontext.Value `json:"cities"`
			Puts   []struct {
				Path string         `json:"path"`
				Body jsontext.Value `json:"body"`
			} `json:"puts"`
		}
		require.NoError(t, json.Unmarshal(text, &feed))
		d := open(t, nil)
		got := d.send("POST", "/cities", string(feed.Cities))
		var ids []string
		for _, change := range d.changes() {
			ids = append(ids, string(change.ID))
			if strings.HasSuffix(file, "jsonapi.json") && !(jsonscan.Lookup(change.Body, "/included/0") != nil &&
				jsonscan.Lookup(change.Body, "/meta/bareme-notes/3") != nil) {
				t.Errorf("%s: %s lacks what it refers to: %s", file, change.ID, change.Body)
			}
			if len(change.Body) < len(feed.Cities)/len(feed.IDs)/3 {
				t.Errorf("%s: %s is kept as %s", file, change.ID, change.Body)
			}
		}
		if !slices.Equal(ids, feed.IDs) {
			t.Errorf("%s: ids %q, want %q; answered %+v", file, ids, feed.IDs, got)
		}
		for _, put := range feed.Puts {
			before := len(d.changes())
			if got := d.send("PUT", put.Path, string(put.Body)); got.status != 202 || len(d.changes()[before].Body) < len(put.Body)*9/10 {
				t.Errorf("%s: PUT %s: answered %+v, kept %d of %d bytes", file, put.Path, got, len(d.changes()[before].Body), len(put.Body))
			}
		}
	}
}

// TestDoubtfulPayloads: what is not certain is refused as a whole, nothing of it accepted.
func TestDoubtfulPayloads(t *testing.T) {
	for name, body := range map[string]string{
		"two lists":                 `{"created":` + elements(12, `{"id":"c#","title":"x"}`) + `,"updated":` + elements(12, `{"id":"d#","title":"x"}`) + `}`,
		"two that name others":      `{"neu":` + elements(12, `{"id":"c#","see":"d#"}`) + `,"zz":` + elements(12, `{"id":"d#","see":"c#"}`) + `}`,
		"changes of one of them":    `{"cities":[{"id":"c1","title":"x","text":"y","see":"c2"}],"updated":[{"id":"c2","changes":{"level":3}}]}`,
		"nobody refers to it":       `{"cities":[{"id":"c1"}],"rest":[{"id":"d1"}]}`,
		"two ids as good":           elements(12, `{"kopfId":"k#","aktId":"a#","title":"x"}`),
		"a key of a table, perhaps": `{"value":` + elements(12, `{"@odata.etag":"W/\"63#\"","zz1_byrapportid":"1c3aac7d-4d8c-4903-8d03-77000000000#","zz1_rapportnr":"BY-#","navn":"x"}`) + `}`,
		"a key of something else":   elements(12, `{"sporingsid":"1c3aac7d-4d8c-4903-8d03-77000000000#","zz_nokkel":"BY-#","title":"x"}`),
		"hashes, names and dates":   elements(12, `{"hash":"f#","slug":"london-#","name":"London #","date":"2026-11-1#"}`),
		"places of one report":      `{"title":"London","zone":` + elements(12, `{"id":#,"name":"x"}`) + `}`,
		"documents of one report":   `{"name":"London","documents":[{"id":1},{"id":2}]}`,
		"many of one report":        `{"name":"London","country":"GB","documents":` + elements(12, `{"id":#,"name":"x"}`) + `}`,
		"parts by name":             `{"zz":{"sea":{"id":1,"text":"x"},"air":{"id":2,"text":"y"}}}`,
		"many poor parts":           `{"name":"London","signals":{` + strings.Trim(elements(12, `"t#":{"id":"#","band":"low"}`), "[]") + `}}`,
		"more ids, and longer":      `{"cities":[{"id":997},{"id":998},{"id":999}],"updated":[{"id":1000}]}`,
		"deletes, and longer":       `{"cities":[{"id":997},{"id":998},{"id":999}],"deleted":[{"id":1000}]}`,
		"flights of one report":     `{"headline":"Flights cancelled","summary":"x","flights":` + placed(12, `"id":"f#"`) + `}`,
		"countries of a city":       `{"name":"London","country":"GB","zz":` + placed(3, `"id":#`) + `}`,
		"a changed one beside":      `{"neu":` + placed(3, `"id":#`) + `,"changed":[{"id":1000,"title":"x"}]}`,
		"one beside":                `{"others":` + placed(3, `"id":#`) + `,"capital":{"id":4,"name":"Oslo","country":"NO"}}`,
		"deleted ids beside":        `{"neu":` + placed(3, `"id":#`) + `,"geloescht":["4000","5000"]}`,
		"one without an id beside":  `{"neu":` + placed(3, `"id":#`) + `,"geändert":[{"ort":"London","text":"A text"}]}`,
		"a table, and records":      `{"columns":["id","country","text"],"rows":[["r1","FR","x"],["r2","Kenya","y"]],"cities":[{"id":"c1"},{"id":"c2"}]}`,
		"two tables":                `{"a":{"columns":["id","country","text"],"rows":[["r1","FR","x"],["r2","Kenya","y"]]},"b":[["r3","FR","x"],["r4","PER","y"]]}`,
		"two about places":          `{"title":"x","zz":` + placed(12, `"ref_id":"c#"`) + `,"qq":` + placed(12, `"ref_id":"d#"`) + `}`,
		"about places, and gone":    `{"two":` + placed(12, `"ref_id":"c#"`) + `,"gone":[{"ref_id":"c99"}]}`,
		"two maps":                  `{"cities":{"c1":{"title":"x"},"c2":{"title":"y"}},"updated":{"c3":{"id":"c3"},"c4":{"id":"c4"}}}`,
		"by position, without ids":  `{"LIST":` + counted(func(_, more string) string { return `{` + richText + `,"cc":` + more + `}` }) + `}`,
		"many rich parts":           `{"headline":"Outlook","parts":` + elements(12, `{"id":"d#",`+richText+`}`) + `}`,
		"rich parts in one":         `{"headline":"Outlook","content":{"parts":` + elements(12, `{"id":"d#",`+richText+`}`) + `}}`,
		"more than a legend":        `{"legend":` + elements(12, `{"id":"d#",`+richText+`}`) + `,"zz":` + elements(12, `{"id":"c#",`+richText+`}`) + `}`,
		"the same id in two":        `{"data":{"GB":{"1":{"title":"x"}},"FR":{"1":{"title":"y"}}}}`,
		"two that are referred to":  elements(12, `{"a":90#,"b":80#,"x":[901,902,903],"y":[801,802,803]}`),
		"short references":          elements(12, `{"a":#,"hs":"f#","x":[1,2,3,4]}`),
		"deleted":                   `{"event":"city.deleted","payload":{"before":{"id":"c1"},"after":null}}`,
	} {
		d := open(t, nil)
		if got := d.send("POST", "/cities", body); got.status != 422 || len(d.changes()) > 0 {
			t.Errorf("%s: %d changes, answered %+v", name, len(d.changes()), got)
		}
	}
}

// TestElementsThatSayMore: an element that says more than the others of its list is not opened as they are.
func TestElementsThatSayMore(t *testing.T) {
	for _, more := range []string{`"deleted":"true"`, `"deleted":1`, `"deleted_at":"2026-01-01"`, `"risk_level":4`, `"country":"FR"`, `"zz":"azow"`, `"withdrawn":"yes"`, `"curfew":"Curfew from tonight"`} {
		d := open(t, nil)
		name, _, _ := strings.Cut(more, ":") // the others have nothing there
		got := d.send("POST", "/cities", `[{"node":{"id":"c1"},`+name+`:null},{"node":{"id":"c2"}},{"node":{"id":"c3"},`+more+`}]`)
		for _, c := range d.changes() {
			if c.ID == "c3" {
				t.Errorf("%s: accepted as %s, answered %+v", more, c.Body, got)
			}
		}
	}
}

// TestReportsWithManyPlacesAreOne: what an ordinary report has of other countries are no reports.
func TestReportsWithManyPlacesAreOne(t *testing.T) {
	const text = `"All is calm in the city, and has been for years. It will be so for years to come, as everybody says who lives there."`
	for body, want := range map[string]string{
		`{"id":130,"name":"London","text":` + text + `,"embassies":[["id","country","phone"],["1","FR","020 7073"],["2","Kenya","020 7636"],["3","PER","020 7235"]]}`: "130",
		`{"id":130,"name":"London","text":` + text + `,"visitors":{"columns":["country","n","share"],"rows":[["FR",10,1.5],["Kenya",20,2.5],["PER",30,3.5]]}}`:        "130",
		`{"cityReportNumber":"SR-17","headline":"Sahel","summary":` + text + `,"countries":` + placed(3, `"id":#`) + `}`:                                              "SR-17",
		`{"id":"sr1","summary":` + text + `,"countries":` + placed(12, `"id":#`) + `}`:                                                                                "sr1",
		`{"id":"a1","title":"Landmine removal closes the road","category":"Removal","text":` + text + `}`:                                                             "a1",
		`{"id":"a1","title":"Curfew","category":"Restriction","status":"Removed","text":` + text + `}`:                                                                "a1",
	} {
		d := open(t, nil)
		got := d.send("POST", "/cities", body)
		if c := d.changes(); len(c) != 1 || string(c[0].ID) != want || string(c[0].Body) != body {
			t.Errorf("%s: %d changes %.100v, answered %+v", body, len(c), c, got)
		}
	}
	d := open(t, nil)
	body := `{"created":2,"updated":0,"deleted":1,"cities":[{"id":1,"title":"a"},{"id":2,"title":"b"}]}`
	if got := d.send("POST", "/cities", body); len(d.changes()) != 2 {
		t.Errorf("%s: answered %+v", body, got)
	}
}

// TestAdviceIsFollowed: the pointer in a refusal for want of an id works, and does not lead to
// another refusal with another pointer.
func TestAdviceIsFollowed(t *testing.T) {
	for _, body := range []string{
		`{"type":"FeatureCollection","features":` + elements(12, `{"type":"Feature","properties":{"zzKopf":"a#","title":"x"}}`) + `}`,
		`{"zz":` + elements(12, `{"zzKopf":"a#","zz":{"title":"x"}}`) + `}`,
		elements(12, `{"kopfId":"k#","aktId":"a#","title":"x"}`),
	} {
		d := open(t, nil)
		got := d.send("POST", "/cities", body)
		_, pointer, _ := strings.Cut(got.Detail, "--ids cities=")
		pointer, _, _ = strings.Cut(pointer, ",")
		if got.status != 422 || pointer == "" || strings.Contains(got.Detail, "--records") {
			t.Fatalf("%s: answered %+v", body, got)
		}
		d = open(t, func(c *Config) { c.IDs = map[report.Kind][]string{report.Cities: {pointer}} })
		if got := d.send("POST", "/cities", body); got.status != 202 || got.Accepted != 12 {
			t.Errorf("with %s: answered %+v", pointer, got)
		}
	}
}

// TestPutsAreLikePosts: the PUT of one record gives the record that the POST of a list gives, and
// what may be content is not lost.
func TestPutsAreLikePosts(t *testing.T) {
	s := splitterForTest(t)
	for body, want := range map[string]string{
		`{"event":"city.updated","message_id":"m-1","sent_at":"2026-11-27T10:00:00Z","payload":{"before":{"title":"w"},"after":{"title":"x"}}}`:                    `{"title":"x"}`,
		`{"event":"city.created","payload":{"before":null,"after":{"title":"x"}}}`:                                                                                 `{"title":"x"}`,
		`{"id":"m1","type":"city.updated","data":{"id":"c1","title":"x"}}`:                                                                                         `{"id":"c1","title":"x"}`,
		`{"eventName":"city.revised","messageId":"m1","sequence":3,"actor":{"type":"analyst","country":"BR"},"payload":{"data":{"title":"x"}},"trace":{"id":"t"}}`: `{"title":"x"}`,
		`{"eventName":"city.revised","country":{"iso":"GB"},"payload":{"data":{"title":"x"}}}`:                                                                     "",
		`{"eventName":"city.revised","name":"London","payload":{"data":{"title":"x"}}}`:                                                                            "",
		`{"@context":"https://x.example/c","etag":"W/123","status":"ok","fiche":{"id":"c1","title":"x"}}`:                                                          `{"id":"c1","title":"x"}`,
		`{"jsonapi":{"version":"1.1"},"links":{"self":"/x"},"data":{"type":"city","id":"1"}}`:                                                                      `{"type":"city","id":"1"}`,
		`{"Land":"Norge","data":{"title":"x"}}`:                                                                                                                    "",
		`{"author":"Jane","data":{"title":"x"}}`:                                                                                                                   "",
		`{"data":{"title":"x"},"published_at":"2026-11-27"}`:                                                                                                       "",
		`{"data":{"title":"x","published_at":"2026-11-26"},"published_at":"2026-11-27"}`:                                                                           `{"title":"x","published_at":"2026-11-26"}`,
		`{"level":3,"data":{"title":"x"}}`:                                                                                                                         "",
		`{"data":{"title":"x"},"notes":["y"]}`:                                                                                                                     "",
		`{"data":{"title":"x"},"included":[{"type":"country","id":"1"}]}`:                                                                                          "",
		`{"type":"Feature","geometry":null,"properties":{"title":"x"}}`:                                                                                            "",
		`{"city":{"name":"London"},"country":{"iso":"GB"}}`:                                                                                                        "",
	} {
		if want == "" {
			want = body
		}
		if got, missing := s.one([]byte(body)); string(got.kept()) != want || missing != "" {
			t.Errorf("%s: got %s, want %s", body, got.kept(), want)
		}
	}
	for body, want := range map[string]string{
		`{"event":"city.deleted","payload":{"before":{"id":"c1"},"after":null}}`: `a note that the report was deleted: "event" is "city.deleted"`,
		`{"op":"d","before":{"id":"c1"},"after":null}`:                           "null",
		`{"id":"c1","_deleted":true}`:                                            `a note that the report was deleted: "_deleted" is true`,
		`{"id":"c1","status":"gelöscht","title":"x"}`:                            `a note that the report was deleted: "status" is "gelöscht"`,
		`{"id":"c1","deleted":false}`:                                            "",
		`{"id":"c1","deleted_at":"2026-11-27","status":"removed from the list"}`: "",
	} {
		if _, missing := s.one([]byte(body)); missing != want {
			t.Errorf("%s has %q in the place of the record, want %q", body, missing, want)
		}
	}
}

// TestKeptRecordHasItsNames: the id and the code are those of the record and not of what is kept with it.
func TestKeptRecordHasItsNames(t *testing.T) {
	body := `{"data":{"type":"city","id":"26","attributes":{"code":"LYP"},"relationships":{"country":{"data":{"type":"country","id":"5"}}}},"included":[{"type":"country","id":"5","attributes":{"code":"PK"}}]}`
	d := open(t, nil)
	d.send("PUT", "/cities/LYP", body)
	if c := d.changes(); len(c) != 1 || c[0].OwnID != "26" || c[0].Code != "LYP" || string(c[0].Body) != body {
		t.Errorf("changes %+v", c)
	}
	if !slices.Equal(texts(splitterForTest(t).list([]byte(body))), []string{string(jsonscan.Lookup([]byte(body), "/data"))}) {
		t.Error("the record is not at /data")
	}
	names, err := DefaultConfig().Names(report.Cities, []byte(body))
	if err != nil || names.ID != "26" || names.Code != "LYP" {
		t.Errorf("names %+v, %v", names, err)
	}
}

// BenchmarkNestedPayload reads a payload of 8 MB in envelopes that each have to be looked into.
func BenchmarkNestedPayload(b *testing.B) {
	s := splitterForTest(b)
	body := elements(10_000, `{"zz":"x#","yy":{"xx":{"ww":{"vv":{"title":"`+strings.Repeat("x", 700)+`"}}}}}`)
	for _, name := range []string{"f", "e", "d", "c", "b", "a"} {
		body = `{"` + name + `":` + body + `}`
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		for range s.list([]byte(body)) {
			continue
		}
	}
}

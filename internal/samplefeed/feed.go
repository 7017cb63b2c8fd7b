package samplefeed

import (
	"net/http"

	"riskdex/internal/push"
	"riskdex/report"
)

// Feed returns the requests of the sample feed in the order in which they are to be sent,
// and what the index must hold after the last of them: the one payload with all cities, the
// advisories and special reports, then corrections of all three, then deletions. An error
// means that the tables built into the program are inconsistent.
func Feed() ([]push.Request, Expected, error) {
	cities, err := readCities()
	if err != nil {
		return nil, Expected{}, err
	}
	g, err := parseGrammar(proseFiles)
	if err != nil {
		return nil, Expected{}, err
	}
	f := &feed{grammar: g, cities: cities, expected: newExpected()}
	f.createCities()
	f.createAdvisories()
	f.createSpecialReports()
	f.update()
	f.remove()
	return f.requests, f.expected, f.err
}

// feed collects the requests. After an error it encodes no more bodies.
type feed struct {
	grammar  grammar
	cities   []city
	requests []push.Request
	expected Expected
	err      error
}

func (f *feed) add(method, path, what string, body any) {
	request := push.Request{Method: method, Path: path, What: what}
	if body != nil && f.err == nil {
		request.Body, f.err = encode(body)
	}
	f.requests = append(f.requests, request)
}

func (f *feed) document(kind report.Kind, i, edition int) document {
	switch kind {
	case report.Cities:
		return cityDocument(f.grammar, f.cities[i], i, edition)
	case report.Advisories:
		return advisoryDocument(f.grammar, f.cities, i, edition)
	default:
		return specialDocument(f.grammar, f.cities, i, edition)
	}
}

// created returns the i-th document of a kind as it is created, and adds it to what is
// expected.
func (f *feed) created(kind report.Kind, i int) document {
	doc := f.document(kind, i, 0)
	f.expected.create(kind, doc)
	return doc
}

func (f *feed) createCities() {
	var all []any
	for i := range f.cities {
		all = append(all, f.created(report.Cities, i).body)
	}
	f.add(http.MethodPost, "/cities", "all cities in one payload", record{
		"cities": all, "meta": record{"count": len(all), "generated_at": day(0).Unix(), "note": "Sample data. Not advice.", "next": nil},
	})
}

// createAdvisories sends the first third in an envelope, the second as an
// array, and the others one by one, plain or enveloped.
func (f *feed) createAdvisories() {
	const third = advisories / 3
	var enveloped, array []any
	for i := range third {
		enveloped = append(enveloped, f.created(report.Advisories, i).body)
	}
	for i := range third {
		array = append(array, f.created(report.Advisories, third+i).body)
	}
	f.add(http.MethodPost, "/advisories", "advisories in an envelope", record{"advisories": enveloped, "meta": record{"count": third}})
	f.add(http.MethodPost, "/advisories", "advisories as an array", array)
	for i := 2 * third; i < advisories; i++ {
		doc := f.created(report.Advisories, i)
		f.add(http.MethodPost, "/advisories", "advisory "+doc.id, envelope("advisory", i%advisoryShapes, doc.body))
	}
}

func (f *feed) createSpecialReports() {
	var array []any
	for i := range specialReports {
		doc := f.created(report.SpecialReports, i)
		if i < specialReports/2 {
			array = append(array, doc.body)
			continue
		}
		f.add(http.MethodPost, "/special-reports", "special report "+doc.id, doc.body)
	}
	f.add(http.MethodPost, "/special-reports", "special reports as an array", array)
}

// envelope wraps a single record in the way that its shape is usually sent.
func envelope(name string, shape int, body record) record {
	switch shape {
	case 1:
		if _, ok := body["attributes"]; ok {
			return record{"data": body}
		}
	case 2:
		return record{name: body, "meta": record{"sample": true}}
	}
	return body
}

// update corrects every tenth city, every fifth advisory and every fourth special report.
// Two of three cities are addressed by their code although they have another id, and every
// other one of these leaves its id out of the body.
func (f *feed) update() {
	for n, i := 0, 0; i < len(f.cities); n, i = n+1, i+10 {
		doc := f.document(report.Cities, i, 1)
		f.expected.update(report.Cities, i, doc)
		id := doc.id
		if n%3 != 0 {
			id = doc.code
			if n%2 == 0 {
				delete(doc.body, "id")
			}
		}
		f.put(report.Cities, id, doc, envelope("city", n%4, doc.body))
	}
	for i := 0; i < advisories; i += 5 {
		doc := f.document(report.Advisories, i, 1)
		f.expected.update(report.Advisories, i, doc)
		f.put(report.Advisories, doc.id, doc, envelope("advisory", i%advisoryShapes, doc.body))
	}
	for i := 1; i < specialReports; i += 4 {
		doc := f.document(report.SpecialReports, i, 1)
		f.expected.update(report.SpecialReports, i, doc)
		f.put(report.SpecialReports, doc.id, doc, doc.body)
	}
}

func (f *feed) put(kind report.Kind, id string, doc document, body record) {
	f.add(http.MethodPut, push.Path(kind, report.ID(id)), "correction of "+doc.title, body)
}

// remove deletes advisories whose situation is over, one of them corrected
// before, and a special report.
func (f *feed) remove() {
	for _, i := range []int{33, 22, 15, 11, 4} {
		f.delete(report.Advisories, i)
	}
	f.delete(report.SpecialReports, 8)
}

func (f *feed) delete(kind report.Kind, position int) {
	doc := f.expected.Live[kind][position]
	f.expected.remove(kind, position)
	f.add(http.MethodDelete, push.Path(kind, report.ID(doc.ID)), "end of "+doc.Title, nil)
}

package mappings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// Why a change has no document.
var (
	errNoMapping = errors.New("there is no mapping for this kind")
	errNoBody    = errors.New("it has no body, such as a delete")
	errNotUTF8   = errors.New("its id or code is not valid UTF-8")
)

// AppendDocument appends to dst the document that Elasticsearch is to hold for c: one line
// of JSON, without a line break at its end. It also returns, in the order of the document,
// the names of the fields for which the record has a value that does not fit, or more than
// the field takes. Such a value is left out of its field and is found in `source` only, or
// in `text` as well if it is readable.
//
// It fails, and returns dst as it was, if c has no body, or a body that Elasticsearch would
// refuse: one that is not exactly one JSON value, is not UTF-8, repeats a name within an
// object, or is nested deeper than 999 levels.
//
// AppendDocument may be called concurrently. It retains nothing of c.
func (s *Set) AppendDocument(dst []byte, c report.Change) (doc []byte, unfit []string, err error) {
	doc, unfit, err = s.appendDocument(dst, c, nil)
	if err != nil {
		err = fmt.Errorf("making the document of %s %q: %w", c.Kind, c.ID, err)
	}
	return doc, unfit, err
}

// appendDocument is AppendDocument. It records what it does in t, unless t is nil.
func (s *Set) appendDocument(dst []byte, c report.Change, t *trace) (doc []byte, unfit []string, err error) {
	by := s.shapes(c.Kind)
	switch {
	case by == nil:
		return dst, nil, errNoMapping
	case c.Body == nil:
		return dst, nil, errNoBody
	case !utf8.ValidString(string(c.ID)) || !utf8.ValidString(c.Code):
		return dst, nil, errNotUTF8
	}
	x := s.take()
	defer s.give(x)
	if err := x.tree.parse(c.Body); err != nil {
		return dst, nil, fmt.Errorf("its body: %w", err)
	}
	x.open(by)
	x.trace, x.dst, x.unfit = t, dst, nil
	x.document(c)
	if t != nil && t.examine {
		t.idle = x.idle()
	}
	return x.dst, x.unfit, nil
}

func (x *extractor) document(c report.Change) {
	x.dst = append(x.dst, `{"id":`...)
	x.dst, _ = jsontext.AppendQuote(x.dst, c.ID)
	x.member("kind")
	x.dst, _ = jsontext.AppendQuote(x.dst, c.Kind)

	x.gather()
	from := &x.mapping.Fields
	start := len(x.dst)
	if c.Code != "" && len(c.Code) <= maxKeyword {
		x.member("code")
		x.dst, _ = jsontext.AppendQuote(x.dst, c.Code)
	} else {
		x.first("code", from.Code, (*extractor).putCode)
	}
	x.subject = subject{kind: c.Kind, code: x.written(start, "code")}
	title := len(x.dst)
	x.first("title", from.Title, (*extractor).putLine)
	headline := span{title, len(x.dst)}
	x.title = append(x.title[:0], bytes.TrimPrefix(x.dst[title:], []byte(`,"title":`))...)
	x.subject.title = x.written(title, "title")
	x.list("names", from.Names, false, (*extractor).otherName)
	x.subject.names = x.listed()
	x.countries(from.Country)
	x.countryOfTitle()
	x.codes = slices.AppendSeq(x.codes[:0], maps.Keys(x.seen))
	x.subject.countries = slices.Sorted(slices.Values(x.codes))
	x.countryNames()
	start = len(x.dst)
	x.first("risk_label", from.RiskLabel, (*extractor).putRiskLabel)
	x.called = vocabulary.Fold(x.written(start, "risk_label"))
	x.first("risk_level", from.RiskLevel, (*extractor).putRiskLevel)
	x.called = "" // threats have levels of their own
	x.list("airports", from.Airports, true, (*extractor).airport)
	x.places()
	start = len(x.dst)
	x.first("location", from.Location, (*extractor).putPoint)
	x.subject.located = len(x.dst) > start
	x.fromGazetteer()
	mark := len(x.dst)
	x.first("summary", from.Summary, (*extractor).putSummary)
	summary := span{mark, len(x.dst)}
	if summary.end == mark {
		x.beginning()
		if c.Kind != report.Cities { // which may begin with any section
			summary.end = len(x.dst)
		}
	}
	x.first("starts_at", from.StartsAt, (*extractor).putTime)
	x.first("ends_at", from.EndsAt, (*extractor).putEnd)
	x.first("published_at", from.PublishedAt, (*extractor).putTime)
	x.first("updated_at", from.UpdatedAt, (*extractor).putTime)
	x.hideTables()
	x.text()
	x.textIn()
	x.threats(headline, summary)

	if !c.AcceptedAt.IsZero() {
		x.member("received_at")
		x.dst = appendTime(x.dst, c.AcceptedAt)
	}
	x.member("version")
	x.dst = strconv.AppendInt(x.dst, int64(c.Version), 10)
	x.source(c.Body)
	x.dst = append(x.dst, '}')
}

// source writes the record itself, unless it is too long.
func (x *extractor) source(body []byte) {
	start := len(x.dst)
	x.member("source")
	value := len(x.dst)
	x.dst = appendCompact(x.dst, body)
	if len(x.dst)-value > maxSource {
		x.dst = x.dst[:start]
		x.unfit = append(x.unfit, "source")
		x.trace.note(x, "source", 0, unfit, 0)
	}
}

// findRoots finds the objects that hold the record's members. A record that is in an object
// with nothing else is looked for there, whatever the object calls it.
func (x *extractor) findRoots() {
	x.roots = x.roots[:0]
	top := uint32(0)
	for depth := 0; ; depth++ {
		for i := range x.mapping.Roots {
			x.found = x.tree.find(x.found[:0], top, x.mapping.Roots[i].steps)
			for _, at := range x.found {
				if x.tree.nodes[at].kind == '{' && !slices.Contains(x.roots, at) {
					x.roots = append(x.roots, at)
				}
			}
		}
		inner := x.tree.nodes[top].first
		if depth == maxGuessDepth || x.mapping.book == nil || x.tree.nodes[top].kind != '{' || inner == none ||
			x.tree.nodes[inner].next != none || x.tree.nodes[inner].kind != '{' ||
			x.reader.name(x.tree.quotedName(inner)).Concepts&^x.mapping.book.own != 0 {
			return
		}
		top = inner
	}
}

// release drops the record, and buffers that have grown unusually large.
func (x *extractor) release() {
	const keep = 1 << 20
	x.tree.release()
	x.mapping, x.near, x.trace, x.dst, x.unfit, x.subject, x.pointersOnly = nil, nil, nil, nil, nil, subject{}, false
	if cap(x.prose) > keep {
		x.prose = nil
	}
	if cap(x.passages) > keep/32 {
		x.passages = nil
	}
	if cap(x.cleaned) > keep {
		x.cleaned = nil
	}
	if cap(x.found) > keep/4 {
		x.found, x.inner = nil, nil
	}
	if len(x.speech) > 1000 {
		x.speech = make(map[uint32]spoken)
	}
	if len(x.seen) > 1000 {
		x.seen = make(map[string]struct{})
	}
}

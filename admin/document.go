package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"riskdex/internal/sanitize"
	"riskdex/report"
	"riskdex/search"
)

// Documents is the part of the journal that a lookup of a document needs.
type Documents interface {
	// Documents returns the number of documents of a kind that are not deleted.
	Documents(ctx context.Context, kind report.Kind) (int, error)
	// Document resolves a name, an id or the code of a city, and returns what the journal has of
	// that document.
	Document(ctx context.Context, kind report.Kind, name report.ID) (report.Document, error)
	// Entries returns the documents of a kind with ids after one, deleted ones among them, in the
	// order of their ids. Lookup returns those with some ids.
	Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error)
	Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error)
	// Delivered returns the documents whose newest content came with a delivery.
	Delivered(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (report.DeliveredPage, error)
}

// Indexed is what the index has of a document, compared with the newest record.
type Indexed struct {
	Index      string         `json:"index"`              // the alias that apps search
	Version    report.Version `json:"version"`            // 0 if it has none
	Searchable report.Version `json:"searchable_version"` // the version that searches show; 0 if none
	Differ     []string       `json:"differ,omitempty"`   // fields that searches show otherwise than the newest record has them
	Fields     []FieldSource  `json:"fields,omitempty"`   // where the fields of the newest record come from
	About      About          `json:"-"`                  // the newest record
}

// About is what the fields of a document say that its page shows.
type About struct {
	RiskLevel int            `json:"risk_level"` // 0 if it states none
	RiskLabel string         `json:"risk_label"`
	Location  *search.Point  `json:"location"`
	Places    []search.Place `json:"places"`
}

// FieldSource is a field of a document, and where in the record its value comes from.
type FieldSource struct {
	Field   string `json:"field"`
	Value   string `json:"value"`
	Pointer string `json:"pointer"`           // JSON pointer into the record; "" for the whole record
	Guessed bool   `json:"guessed,omitempty"` // found by the words of a name
	Reason  string `json:"reason,omitempty"`  // why it was left out
}

// Document is what riskdex knows of one document, from its newest delivery to what searches show.
type Document struct {
	Kind   report.Kind    `json:"kind"`
	Name   string         `json:"name"`             // as the caller gave it: an id, or a city's code
	By     report.NamedBy `json:"named_by"`         // how the name was resolved
	Cities []report.ID    `json:"cities,omitempty"` // the cities with that code, if there are several

	State      string `json:"state"`
	Says       string `json:"says"`             // the state in one sentence
	Remedy     string `json:"remedy,omitempty"` // what to do
	Searchable bool   `json:"searchable"`       // apps find the newest record; if deleted: they find none

	// What follows is empty if the name leads to no document.
	ID           report.ID      `json:"id,omitempty"`
	Version      report.Version `json:"version,omitempty"`
	Op           report.Op      `json:"op,omitempty"`
	Code         string         `json:"code,omitempty"` // of a city that has one
	AcceptedAt   time.Time      `json:"accepted_at,omitzero"`
	WaitingSince time.Time      `json:"waiting_since,omitzero"`
	EndedAt      time.Time      `json:"ended_at,omitzero"` // when it was settled or set aside
	ErrorType    string         `json:"error_type,omitempty"`
	Reason       string         `json:"reason,omitempty"`     // why Elasticsearch refuses it
	Sender       string         `json:"sender,omitempty"`     // the name of the credential with which it was delivered, if history is on
	Address      string         `json:"address,omitempty"`    // likewise, from where
	Call         string         `json:"call,omitempty"`       // likewise
	RequestID    string         `json:"request_id,omitempty"` // likewise
	Bytes        int            `json:"bytes"`
	Content                     // the newest record

	Index      *Indexed  `json:"index,omitempty"`       // nil if the index could not be asked
	IndexError string    `json:"index_error,omitempty"` // why it could not
	Refused    []Refusal `json:"refused"`               // newest deliveries refused for it, without bodies
}

// From tells in words by whom it was delivered.
func (d Document) From() string { return fromText(d.Sender, d.Address) }

// The states of a document, in the answer.
const (
	DocumentUnknown    = "unknown"
	DocumentAmbiguous  = "ambiguous"
	DocumentSearchable = "searchable"
	DocumentDeleted    = "deleted"
	DocumentWaiting    = "waiting"
	DocumentDead       = "dead"
	DocumentDropped    = "dropped"
	DocumentDamaged    = "damaged"
	DocumentDiffers    = "differs"
	DocumentNotAsked   = "not_asked" // Elasticsearch could not be asked
	DocumentReplaced   = "replaced"  // of a delivery: newer content has taken its place
)

// The bounds of looking up a document: the time for Elasticsearch, how often both sides are
// asked, how many refusals are searched and how many are listed.
const (
	documentTimeout   = 10 * time.Second
	mostAttempts      = 3 // to read a document or delivery that changes meanwhile
	refusalsSearched  = 10 * longestPage
	documentRefusals  = 10
	documentClockForm = "2006-01-02 15:04:05 UTC"
)

// document answers the call for one document.
func (s *statuses) document(r *request) (any, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	journalOnly, err := r.flag("journal_only")
	if err != nil {
		return nil, err
	}
	return s.lookUp(r.Context(), key, journalOnly)
}

// Entry is what the journal has of a document besides its content.
type Entry struct {
	ID      report.ID      `json:"id"`
	Version report.Version `json:"version"`
	Deleted bool           `json:"deleted,omitempty"`
}

// entries returns the documents of a kind in the order of their ids, or the one with an id.
func (s *statuses) entries(r *request) (any, error) {
	kind, limit, err := r.page()
	if err != nil {
		return nil, err
	}
	var found []report.Entry
	if id := report.ID(r.text("id")); id != "" {
		found, err = s.Documents.Lookup(r.Context(), kind, []report.ID{id})
	} else {
		found, err = s.Documents.Entries(r.Context(), kind, report.ID(r.text("after")), limit)
	}
	if err != nil {
		return nil, err
	}
	page := Page[Entry]{Items: []Entry{}}
	for _, e := range found {
		page.Items = append(page.Items, Entry{e.ID, e.Version, e.Op == report.Delete})
	}
	if len(found) == limit {
		page.Next = string(found[limit-1].ID)
	}
	return page, nil
}

// lookUp gathers what is known of a document, with journalOnly without asking Elasticsearch. The
// journal is read first, so what does not fit together may have changed in between: then both are
// asked again.
func (s *statuses) lookUp(ctx context.Context, named report.Key, journalOnly bool) (Document, error) {
	doc, err := s.documentOnce(ctx, named, journalOnly)
	for attempt := 1; err == nil && doc.misfits(); attempt++ {
		before := doc
		doc, err = s.documentOnce(ctx, named, journalOnly)
		same := doc.ID == before.ID && doc.Version == before.Version && doc.EndedAt.Equal(before.EndedAt)
		switch {
		case err != nil || same:
			return doc, err
		case attempt == mostAttempts && doc.misfits():
			doc.State, doc.Says, doc.Remedy = DocumentWaiting, "It changes while it is looked at."+shownInstead(doc.Index), ""
			return doc, nil
		}
	}
	return doc, err
}

// misfits reports whether Elasticsearch has something else than the journal says that it should.
func (d *Document) misfits() bool {
	return d.State == DocumentDiffers || d.Index != nil && max(d.Index.Version, d.Index.Searchable) > d.Version
}

// documentOnce is lookUp that asks both once.
func (s *statuses) documentOnce(ctx context.Context, named report.Key, journalOnly bool) (Document, error) {
	d, err := s.Documents.Document(ctx, named.Kind, named.ID)
	if err != nil {
		return Document{}, err
	}
	doc := Document{Kind: named.Kind, Name: string(named.ID), By: d.By, Cities: d.Cities, Refused: []Refusal{}}
	if doc.Refused, err = s.refusedFor(ctx, named, d); err != nil {
		return doc, err
	}
	if !d.By.Known() {
		stats, err := s.Status.Journal.Stats(ctx)
		if err != nil {
			return doc, err
		}
		lost := stats.Loss.Lost() || len(report.AcknowledgedIn(stats.Notes)) > 0
		doc.State, doc.Says, doc.Remedy = unnamed(doc, lost)
		return doc, nil
	}
	doc.ID, doc.Version, doc.Op, doc.AcceptedAt = d.ID, d.Version, d.Op, d.AcceptedAt
	doc.WaitingSince, doc.EndedAt, doc.ErrorType, doc.Reason = d.WaitingSince, d.EndedAt, d.ErrorType, d.Reason
	doc.Bytes, doc.Content = len(d.Body), contentOf(d.Body)
	if d.HasCode {
		doc.Code = d.Code
	}
	if s.Histories != nil {
		past, err := s.Histories.History(ctx, d.Key, math.MaxInt64, 1)
		if err != nil {
			return doc, err
		}
		if len(past) > 0 && past[0].AcceptedAt.Equal(d.AcceptedAt) {
			doc.Sender, doc.Address, doc.Call, doc.RequestID = past[0].Sender, past[0].Address, past[0].Call, past[0].Request
		}
	}
	if journalOnly {
		doc.IndexError = "it was not asked"
	} else if s.Status.Index != nil {
		ctx, cancel := context.WithTimeout(ctx, documentTimeout)
		defer cancel()
		if x, err := s.Status.Index.Document(ctx, d.Change); err != nil {
			doc.IndexError = err.Error()
		} else {
			doc.Index = &x
		}
	}
	var waiting []report.Waiting
	if s.Status.Waiting != nil {
		waiting = s.Status.Waiting()
	}
	s.judge(&doc, d, waiting)
	return doc, nil
}

// refusedFor returns the newest refusals for a name, and for the document d that it leads to.
func (s *statuses) refusedFor(ctx context.Context, named report.Key, d report.Document) ([]Refusal, error) {
	found := []Refusal{}
	if s.Refusals == nil || s.Receiver == nil {
		return found, nil
	}
	same := func(a, b string) bool { return a == b || named.Kind == report.Cities && strings.EqualFold(a, b) } // codes have no case
	for before, seen := int64(0), 0; seen < refusalsSearched; seen += longestPage {
		page, err := s.Refusals.Refusals(ctx, before, longestPage)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			before = r.Seq
			if r.Kind == named.Kind && r.ID != "" && (same(r.ID, string(named.ID)) || same(r.ID, string(d.ID)) || d.HasCode && same(r.ID, d.Code)) {
				if found = append(found, refusalOf(r, s.Receiver)); len(found) == documentRefusals {
					return found, nil
				}
			}
		}
		if len(page) < longestPage {
			break
		}
	}
	return found, nil
}

// unnamed says why a name leads to no document, in a journal that has lost changes or has not.
func unnamed(d Document, lost bool) (state, says, remedy string) {
	if d.By == report.NamedAmbiguous {
		ids := make([]string, len(d.Cities))
		for i, id := range d.Cities {
			ids[i] = string(id)
		}
		return DocumentAmbiguous, fmt.Sprintf("Several cities have the code %s: %s.", strings.ToUpper(d.Name), strings.Join(ids, ", ")), "Name one of them by its id"
	}
	says = fmt.Sprintf("The journal has nothing of %s %s.", d.Kind, d.Name)
	if len(d.Refused) > 0 {
		return DocumentUnknown, says + " What was delivered for it was refused: " + d.Refused[0].Detail, fmt.Sprintf("riskdex refused show %d", d.Refused[0].Number)
	}
	why := " It was never accepted, or it was deleted so long ago that its tombstone was dropped."
	if lost {
		why = " It was never accepted, it was deleted so long ago that its tombstone was dropped, or it was lost when the journal was set back: the index may have it."
	}
	return DocumentUnknown, says + why, "Look for another spelling with riskdex search; or have it delivered"
}

// document shows the page of a document.
func (p *page) document(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	in := &request{r}
	v.Of, v.Name = report.Kind(in.text("kind")), strings.ToValidUTF8(in.text("id"), "")
	key, err := in.key()
	if err == nil {
		var d Document
		if d, err = p.status.lookUp(r.Context(), key, false); err == nil {
			v.Document = &d
			v.Past, err = p.past(r.Context(), in, key)
		}
	}
	status := http.StatusOK
	if err != nil {
		v.Failed = problemOf(err)
		status = v.Failed.Status
	}
	p.write(w, status, "document.html", v)
}

// titleOf returns the title of a document, or nothing.
func titleOf(d *Document) string {
	var title string
	if d.Index != nil {
		for _, f := range d.Index.Fields {
			if f.Field == "title" && f.Reason == "" {
				_ = json.Unmarshal([]byte(f.Value), &title) // if it is cut, the rest is not needed
			}
		}
	}
	return title
}

// longestRecord bounds the record on a page, in bytes.
const longestRecord = 100_000

// recordText returns a record for people to read.
func recordText(d *Document) string {
	body := d.Raw()
	if len(body) > longestRecord {
		return sanitize.Lines(string(body[:longestRecord])) + "…"
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") == nil {
		body = pretty.Bytes()
	}
	return sanitize.Lines(string(body))
}

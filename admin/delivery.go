package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"riskdex/report"
)

// DeliveryPage is what became of a delivery, and a part of its documents.
type DeliveryPage struct {
	Name       string              `json:"name"`
	Says       string              `json:"says"`                  // in one sentence
	Changes    int                 `json:"changes"`               // that the delivery made
	Documents  int                 `json:"documents"`             // whose newest content came with it
	Retried    int                 `json:"retried"`               // documents that it had besides, which were refused at first and accepted at a retry
	Replaced   int                 `json:"replaced"`              // of its changes, those that newer ones have replaced
	InHistory  int                 `json:"in_history"`            // of Replaced, those that are in the history, and so among the items
	Forgotten  bool                `json:"forgotten"`             // others of Replaced may be deletes that are no longer known
	Lost       bool                `json:"lost"`                  // others of Replaced may be missing instead, as the journal lacks changes of that time
	IndexError string              `json:"index_error,omitempty"` // why it is not known what searches find
	Items      []DeliveredDocument `json:"items"`
	Next       string              `json:"next,omitempty"`
}

// DeliveredDocument is a document that came with a delivery.
type DeliveredDocument struct {
	Kind       report.Kind    `json:"kind"`
	ID         report.ID      `json:"id"`
	Version    report.Version `json:"version"`
	Op         report.Op      `json:"op"`
	State      string         `json:"state"`             // of those of a document, or DocumentReplaced
	Searchable bool           `json:"searchable"`        // an app finds this content; of a deleted document: it finds none
	Reason     string         `json:"reason,omitempty"`  // why Elasticsearch refuses it
	Retried    bool           `json:"retried,omitempty"` // it was refused at first, and accepted at a retry

	// Of one that was replaced, if the history tells.
	ReplacedBy   report.Version `json:"replaced_by,omitempty"`
	ReplacedAt   time.Time      `json:"replaced_at,omitzero"`
	SearchableAt time.Time      `json:"searchable_at,omitzero"` // when the index first had it
}

// Says tells in words what became of it.
func (d *DeliveredDocument) Says() string {
	const form = "2006-01-02 15:04:05"
	switch {
	case d.Reason != "":
		return d.State + ": " + d.Reason
	case d.State == DocumentDiffers:
		return "differs: riskdex show says how"
	case d.State != DocumentReplaced:
		return d.State
	case d.ReplacedBy == 0 && d.Op == report.Delete:
		return "deleted long ago, or replaced while history was off"
	case d.ReplacedBy == 0:
		return "replaced; history does not tell when"
	}
	shown := "never reached the index, as far as known"
	if !d.SearchableAt.IsZero() {
		shown = "in the index since " + d.SearchableAt.UTC().Format(form)
	}
	return fmt.Sprintf("%s; replaced at %s by version %d", shown, d.ReplacedAt.UTC().Format(form), d.ReplacedBy)
}

// delivery answers the call for one delivery.
func (s *statuses) delivery(r *request) (any, error) {
	name, err := report.ParseDeliveryName(r.text("name"))
	if err != nil {
		return nil, notFound(err.Error() + ". It is in the answer to the delivery, and complete.")
	}
	after, err := r.number("after")
	if err != nil {
		return nil, err
	}
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	var page DeliveryPage
	for range mostAttempts {
		if page, err = s.deliveryOnce(r.Context(), name, report.Version(after), limit); err != nil {
			return nil, err
		}
		// The journal was read first: one that seems to differ may have been replaced since.
		if !slices.ContainsFunc(page.Items, func(d DeliveredDocument) bool { return d.State == DocumentDiffers }) {
			break
		}
	}
	return page, nil
}

// deliveryOnce reads a page of a delivery from the journal, and then what searches find.
func (s *statuses) deliveryOnce(ctx context.Context, name report.DeliveryName, after report.Version, limit int) (page DeliveryPage, err error) {
	found, err := s.Documents.Delivered(ctx, name, after, limit)
	if err != nil {
		return page, err
	}
	if name.Last > found.Newest {
		return page, notFound("The journal knows no such delivery: it is newer than everything that the journal has.")
	}
	page = DeliveryPage{Name: name.String(), Changes: name.Changes, Documents: found.Total, Retried: found.Retried, InHistory: found.Replaced, Items: []DeliveredDocument{}}
	page.Replaced = max(0, name.Changes-found.Total)
	if page.Replaced > page.InHistory {
		page.Forgotten = name.First <= found.Dropped
		stats, err := s.Status.Journal.Stats(ctx)
		if err != nil {
			return page, err
		}
		losses := append(report.AcknowledgedIn(stats.Notes), stats.Loss)
		page.Lost = slices.ContainsFunc(losses, func(l report.Loss) bool { return l.MayHave(name) })
	}
	page.Says = page.sentence()
	shown, err := s.shown(ctx, found.Documents)
	if err != nil {
		page.IndexError = err.Error()
	}
	for _, d := range found.Documents {
		page.Items = append(page.Items, deliveredDocument(d, shown, s.Status.Now()))
	}
	if len(found.Documents) == limit {
		page.Next = fmt.Sprint(int64(found.Documents[limit-1].Given))
	}
	return page, nil
}

func (p *DeliveryPage) sentence() string {
	if p.Changes == 0 {
		return "The delivery changed nothing."
	}
	says := fmt.Sprintf("Changes: %d. Newest of their document: %d.", p.Changes, p.Documents)
	if p.InHistory > 0 {
		says += fmt.Sprintf(" Replaced by newer ones, and kept in history: %d.", p.InHistory)
	}
	rest := p.Replaced - p.InHistory
	switch {
	case p.Lost:
		says += fmt.Sprintf(" Replaced by newer ones, or lost, as the journal lacks changes of that time: %d.", rest)
	case p.Forgotten:
		says += fmt.Sprintf(" Replaced by newer ones, or deletes that are no longer known: %d.", rest)
	case rest > 0:
		says += fmt.Sprintf(" Replaced by newer ones: %d.", rest)
	}
	if p.Retried > 0 {
		says += fmt.Sprintf(" Refused at first, and accepted at a retry: %d.", p.Retried)
	}
	return says
}

// shown returns the versions that searches find of documents; nil if that is not known.
func (s *statuses) shown(ctx context.Context, list []report.Delivered) (map[report.Key]report.Version, error) {
	all := map[report.Key]report.Version{}
	if s.Status.Index == nil || len(list) == 0 {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	for _, kind := range report.Kinds() {
		var ids []report.ID
		for _, d := range list {
			if d.Kind == kind && !d.Replaced {
				ids = append(ids, d.ID)
			}
		}
		if len(ids) == 0 {
			continue
		}
		versions, err := s.Status.Index.Shown(ctx, kind, ids)
		if err != nil {
			return nil, err
		}
		for id, v := range versions {
			all[report.Key{Kind: kind, ID: id}] = v
		}
	}
	return all, nil
}

// deliveredDocument says what state a document is in, as [statuses.judge] does.
func deliveredDocument(d report.Delivered, shown map[report.Key]report.Version, now time.Time) DeliveredDocument {
	doc := DeliveredDocument{Kind: d.Kind, ID: d.ID, Version: d.Version, Op: d.Op, Retried: d.Retried, ReplacedBy: d.ReplacedBy, ReplacedAt: d.ReplacedAt, SearchableAt: d.SearchableAt}
	found := shown[d.Key]
	switch {
	case d.Replaced:
		doc.State = DocumentReplaced
	case shown != nil && d.Op == report.Delete && found == 0:
		doc.State, doc.Searchable = DocumentDeleted, true
	case shown != nil && d.Op == report.Index && found == d.Version:
		doc.State, doc.Searchable = DocumentSearchable, true
	case d.State == report.StateDead:
		doc.State, doc.Reason = DocumentDead, d.ErrorType+": "+d.Reason
	case d.State == report.StateDropped:
		doc.State = DocumentDropped
	case d.State == report.StatePending || d.State == report.StateResending:
		doc.State = DocumentWaiting
	case shown == nil:
		doc.State = DocumentNotAsked
	case found > d.Version:
		doc.State = DocumentDiffers
	case now.Sub(d.EndedAt) > LagBound && now.Sub(time.UnixMicro(int64(d.Version))) > LagBound:
		doc.State = DocumentDiffers
	default:
		doc.State = DocumentWaiting // for the next refresh
	}
	return doc
}

// deliveryCall is the call for one delivery.
func (s *statuses) deliveryCall() call {
	return call{http.MethodGet, "/api/delivery", "name after limit", s.delivery}
}

package admin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"riskdex/internal/jsondiff"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// Histories is what the history of documents needs of the journal.
type Histories interface {
	// History returns about limit versions of a document before the given one, newest first,
	// without bodies.
	History(ctx context.Context, key report.Key, before report.Version, limit int) ([]report.Past, error)
	// PastVersion returns one version, with its body, or report.ErrNotFound.
	PastVersion(ctx context.Context, key report.Key, version report.Version) (report.Past, error)
	// PastAt returns the version that was the newest at a time, with its body,
	// report.ErrNotFound or report.ErrHistoryTooShort.
	PastAt(ctx context.Context, key report.Key, at time.Time) (report.Past, error)
}

// Past is what the journal has of the history of one document.
type Past struct {
	Kind report.Kind    `json:"kind"`
	Name string         `json:"name"` // that was asked for
	By   report.NamedBy `json:"named_by"`
	ID   report.ID      `json:"id"`

	// The document that the city was while it was known by its code alone, and until when. At a
	// time at which only that one was there, ID is its id.
	Former      report.ID `json:"former,omitempty"`
	FormerUntil time.Time `json:"former_until,omitzero"`

	KeptSeconds float64       `json:"kept_seconds"`   // how long history is kept; 0 if it is off, and nothing is added
	Note        string        `json:"note,omitempty"` // for people, if older entries were dropped because of the size of the history
	Versions    []PastVersion `json:"versions"`       // newest first
	Next        string        `json:"next,omitempty"`
}

// PastVersion is one version of a document.
type PastVersion struct {
	Version    report.Version `json:"version"`
	Op         report.Op      `json:"op"`
	Code       string         `json:"code,omitempty"`
	AcceptedAt time.Time      `json:"accepted_at"`
	Sender     string         `json:"sender,omitempty"` // the name of its credential
	Address    string         `json:"address,omitempty"`
	Call       string         `json:"call,omitempty"`
	RequestID  string         `json:"request_id,omitempty"`
	Bytes      int            `json:"bytes"`

	State           string     `json:"state"`                      // a PastState
	SearchableAt    *time.Time `json:"searchable_at,omitempty"`    // when the index first had it, or for a delete lacked it
	SearchableUntil *time.Time `json:"searchable_until,omitempty"` // when the index first had a later version
	UntilUnknown    bool       `json:"until_unknown,omitempty"`    // the index may have had a later version that history does not tell of
	ReplacedAt      *time.Time `json:"replaced_at,omitempty"`      // when the next version was accepted
	Gap             bool       `json:"gap,omitempty"`              // more was accepted before the next version
	Changes         string     `json:"changes,omitempty"`          // from the version before, in words
	Lost            string     `json:"lost,omitempty"`             // why its record is not there
	Shown           *Shown     `json:"searchable_then,omitempty"`  // with at=: what a search showed at that time
	Content                    // its record; only where one version is asked for
}

// Shown is what a search showed at a time. Its version is 0 if it showed nothing of the
// document.
type Shown struct {
	Version    report.Version `json:"version"`
	Op         report.Op      `json:"op,omitempty"`
	AcceptedAt *time.Time     `json:"accepted_at,omitempty"`
	Known      bool           `json:"known"` // false if history does not tell; it may be a later version then
}

// The states of a version.
const (
	PastSearchable = "searchable" // it is, or was; for a delete, the document is not searchable any more
	PastWaiting    = "waiting"
	PastOvertaken  = "overtaken" // by a later version, before the index was known to have it
	PastRefused    = "refused"   // by Elasticsearch: it was never searchable, or no longer since it was sent again
	PastUnknown    = "unknown"
)

// The bounds of a page of history: how many versions, up to which size records are compared in
// the list, and how much of them together.
const (
	defaultPast      = 20
	longestPast      = 200
	comparedRecord   = 256 << 10
	comparedTogether = 8 << 20
	shownSearched    = 1000 // versions in which the one is sought that a search showed
)

// histories answers the calls about history.
type histories struct {
	documents Documents
	past      Histories
	stats     Journal
}

// histories returns nil if there are none.
func (s *statuses) histories() *histories {
	if s.Histories == nil || s.Documents == nil {
		return nil
	}
	return &histories{s.Documents, s.Histories, s.Status.Journal}
}

func (h *histories) calls() []call {
	return []call{{http.MethodGet, "/api/history", "kind id exact before limit at version", h.get}}
}

func (h *histories) get(r *request) (any, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	exact, err := r.flag("exact")
	if err != nil {
		return nil, err
	}
	before, err := r.number("before")
	if err != nil {
		return nil, err
	}
	version, err := r.number("version")
	if err != nil {
		return nil, err
	}
	limit, err := r.number("limit")
	if err != nil {
		return nil, err
	}
	var at *time.Time
	if text := r.text("at"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, badRequest(fmt.Sprintf("at is %q in the query, and must be a time like 2026-11-20T10:00:00Z.", text))
		}
		at = &t
		if version != 0 {
			return nil, badRequest("The query has both at and version: say which is meant.")
		}
	}
	if limit == 0 {
		limit = defaultPast
	}
	return h.gather(r.Context(), key, asked{report.Version(before), report.Version(version), at, int(min(limit, longestPast)), exact})
}

// asked is which part of a history is asked for.
type asked struct {
	before, version report.Version
	at              *time.Time
	limit           int
	exact           bool // the name is the very id of a document
}

// gather gathers a history.
func (h *histories) gather(ctx context.Context, named report.Key, q asked) (Past, error) {
	key, code, by, err := h.keyOf(ctx, named, q.exact)
	if err != nil {
		return Past{}, err
	}
	former, err := h.formerOf(ctx, key, code)
	if err != nil {
		return Past{}, err
	}
	stats, err := h.stats.Stats(ctx)
	if err != nil {
		return Past{}, err
	}
	p := Past{Kind: key.Kind, Name: string(named.ID), By: by, ID: key.ID, KeptSeconds: stats.History.Keep.Seconds(), Note: historyCut(stats, time.Now()), Versions: []PastVersion{}}
	if former != nil {
		p.Former, p.FormerUntil = former.ID, former.AcceptedAt.UTC()
	}
	switch {
	case q.version != 0:
		v, err := h.past.PastVersion(ctx, key, q.version)
		if err != nil {
			return p, explain(err, key, fmt.Sprint("version ", q.version), stats.History, p.Note)
		}
		p.Versions = append(p.Versions, whole(v))
	case q.at != nil:
		v, err := h.past.PastAt(ctx, key, *q.at)
		if former != nil && (errors.Is(err, report.ErrNotFound) || errors.Is(err, report.ErrHistoryTooShort)) {
			if was, failed := h.past.PastAt(ctx, former.Key, *q.at); failed == nil {
				v, err, p.ID, former = was, nil, former.ID, nil
			}
		}
		if err != nil {
			return p, explain(err, key, q.at.UTC().Format(time.RFC3339), stats.History, p.Note)
		}
		one := whole(v)
		if one.Shown, err = h.shownAt(ctx, v, *q.at, former); err != nil {
			return p, err
		}
		p.Versions = append(p.Versions, one)
	default:
		err = h.list(ctx, key, q, &p)
	}
	return p, err
}

// keyOf returns the document that a name leads to, and its code. One whose tombstone was dropped
// may have a history under its id.
func (h *histories) keyOf(ctx context.Context, named report.Key, exact bool) (key report.Key, code string, by report.NamedBy, err error) {
	d := report.Document{By: report.NamedNothing}
	if !exact {
		if d, err = h.documents.Document(ctx, named.Kind, named.ID); err != nil {
			return named, "", "", err
		}
	}
	if d.By == report.NamedAmbiguous {
		_, says, remedy := unnamed(Document{Kind: named.Kind, Name: string(named.ID), By: d.By, Cities: d.Cities}, false)
		return named, "", d.By, &Problem{Status: http.StatusConflict, Detail: says + " " + remedy + "."}
	}
	if d.By.Known() {
		return d.Key, d.Code, d.By, nil
	}
	past, err := h.past.History(ctx, named, math.MaxInt64, 1)
	if err == nil && len(past) == 0 {
		err = notFound(fmt.Sprintf("The journal has nothing of %s %s.", named.Kind, named.ID))
	}
	return named, "", d.By, err
}

// formerOf returns the last version of the document that a city was until a record stated its
// id, which is the delete that was accepted together with that record; nil if it was none.
func (h *histories) formerOf(ctx context.Context, key report.Key, code string) (*report.Past, error) {
	if key.Kind != report.Cities || code == "" || strings.EqualFold(code, string(key.ID)) {
		return nil, nil
	}
	past, err := h.past.History(ctx, report.Key{Kind: key.Kind, ID: report.ID(code)}, math.MaxInt64, 1)
	if err != nil || len(past) == 0 || past[0].Op != report.Delete {
		return nil, err
	}
	with, err := h.past.PastAt(ctx, key, past[0].AcceptedAt)
	switch {
	case errors.Is(err, report.ErrNotFound) || errors.Is(err, report.ErrHistoryTooShort):
		return nil, nil
	case err != nil || with.Op == report.Delete || !with.AcceptedAt.Equal(past[0].AcceptedAt):
		return nil, err
	}
	return &past[0], nil
}

// Earlier says in words where the history from before an adoption is; nothing if there is none.
func (p Past) Earlier() string {
	if p.Former == "" || p.Former == p.ID {
		return ""
	}
	return fmt.Sprintf("Until %s UTC the city was the document %s: riskdex history --exact %s %s", p.FormerUntil.Format(time.DateTime), p.Former, p.Kind, sanitize.ShellWord(string(p.Former)))
}

// explain says why a part of a history is not there.
func explain(err error, key report.Key, what string, bounds report.HistoryBounds, cut string) error {
	switch {
	case errors.Is(err, report.ErrHistoryTooShort):
		detail := fmt.Sprintf("History does not tell what %s %s stated at %s.", key.Kind, key.ID, what)
		if bounds.Keep == 0 {
			return notFound(detail + " History is off: riskdex serve --history 90d keeps it from then on.")
		}
		if cut != "" {
			return notFound(detail + " The " + cut + ".")
		}
		return notFound(detail + sinceText(bounds))
	case errors.Is(err, report.ErrNotFound):
		return notFound(fmt.Sprintf("%s %s has no version at %s.", key.Kind, key.ID, strings.TrimPrefix(what, "version ")))
	}
	return err
}

func sinceText(b report.HistoryBounds) string {
	if b.Since.IsZero() {
		return " It is empty."
	}
	return " It begins at " + b.Since.UTC().Format(time.RFC3339) + "."
}

// list adds a page of versions to p, with what changed in each.
func (h *histories) list(ctx context.Context, key report.Key, q asked, p *Past) error {
	if q.before == 0 {
		q.before = math.MaxInt64
	}
	found, err := h.past.History(ctx, key, q.before, q.limit+1) // what the last one changed shows from the one before it
	if err != nil {
		return err
	}
	shown := found[:min(len(found), q.limit)]
	if len(shown) < len(found) {
		p.Next = fmt.Sprint(shown[len(shown)-1].Version)
	}
	left := comparedTogether
	var later report.Past
	for i, v := range found {
		if v.Op == report.Index && v.Bytes <= comparedRecord && v.Bytes <= left {
			if v, err = h.past.PastVersion(ctx, key, v.Version); errors.Is(err, report.ErrNotFound) {
				v, err = found[i], nil // it was dropped meanwhile
			}
			if err != nil {
				return err
			}
			left -= v.Bytes
		}
		if i > 0 {
			p.Versions[i-1].Changes = changed(v, later)
		}
		if i == len(shown) {
			return nil
		}
		one := pastOf(v)
		p.Versions = append(p.Versions, one)
		later = v
	}
	if n := len(p.Versions); n > 0 && later.Op == report.Index {
		p.Versions[n-1].Changes = "the oldest that is kept"
		if later.First {
			p.Versions[n-1].Changes = "created"
		}
	}
	return nil
}

// changed tells in words what is new in a version.
func changed(was, is report.Past) string {
	switch {
	case is.Op == report.Delete:
		return "deleted"
	case is.First:
		return "created anew"
	case was.Gap:
		return "not known: history was off before"
	case was.Op == report.Delete:
		return "created anew"
	case is.Body == nil || was.Body == nil:
		return "not compared"
	}
	changes, err := jsondiff.Compare(was.Body, is.Body)
	if err != nil {
		return "not compared: " + err.Error()
	}
	if len(changes) == 0 {
		return "nothing"
	}
	return jsondiff.Words(changes)
}

// shownAt returns what a search showed at a time at which v was the newest version. Before that
// version, it may have shown the former document.
func (h *histories) shownAt(ctx context.Context, v report.Past, at time.Time, former *report.Past) (*Shown, error) {
	searched, known := 0, true
	for before := v.Version + 1; searched < shownSearched; {
		page, err := h.past.History(ctx, v.Key, before, longestPast)
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			before = p.Version
			searched++
			known = known && !maybeSearchable(p)
			switch {
			case !p.SearchableAt.IsZero() && !p.SearchableAt.After(at):
				known = known && p.State != report.StateDead && p.State != report.StateDropped // refused by then, or not yet
				return &Shown{Version: p.Version, Op: p.Op, AcceptedAt: new(p.AcceptedAt.UTC()), Known: known}, nil
			case p.First && former != nil:
				shown, err := h.shownAt(ctx, *former, at, nil)
				if err == nil && shown.Op == report.Delete { // which is the adoption
					shown = &Shown{Known: true}
				}
				if err == nil {
					shown.Known = shown.Known && known
				}
				return shown, err
			case p.First:
				return &Shown{Known: known}, nil
			case p.State == "" || p.State == report.StateSettled && p.SearchableAt.IsZero():
				return &Shown{}, nil
			}
		}
		if len(page) == 0 {
			break
		}
	}
	return &Shown{}, nil
}

// maybeSearchable reports whether Elasticsearch may have taken a version that a later one overtook:
// if its answer was lost, or riskdex was killed, nobody noted it. What was replaced in the very
// transaction that accepted it was never sent.
func maybeSearchable(p report.Past) bool {
	return p.State == report.StatePending && !p.ReplacedAt.IsZero() && p.ReplacedAt.After(p.AcceptedAt)
}

// whole is pastOf with the record.
func whole(v report.Past) PastVersion {
	p := pastOf(v)
	p.Content = contentOf(v.Body)
	return p
}

func pastOf(v report.Past) PastVersion {
	p := PastVersion{
		Version: v.Version, Op: v.Op, Code: v.Code, AcceptedAt: v.AcceptedAt.UTC(), Sender: v.Sender, Address: v.Address, Call: v.Call, RequestID: v.Request, Bytes: v.Bytes,
		State: pastState(v), UntilUnknown: v.UntilUnknown, Gap: v.Gap, Lost: string(v.Lost),
	}
	for from, to := range map[*time.Time]**time.Time{&v.SearchableAt: &p.SearchableAt, &v.SearchableUntil: &p.SearchableUntil, &v.ReplacedAt: &p.ReplacedAt} {
		if !from.IsZero() {
			*to = new(from.UTC())
		}
	}
	if p.SearchableAt == nil || p.State == PastRefused {
		p.SearchableUntil, p.UntilUnknown = nil, false
	}
	return p
}

func pastState(v report.Past) string {
	switch v.State {
	case report.StateSettled, report.StateResending:
		return PastSearchable
	case report.StateDead, report.StateDropped:
		return PastRefused
	case report.StatePending:
		if v.NeverSearchable() {
			return PastOvertaken
		}
		return PastWaiting
	}
	return PastUnknown
}

// Searchable tells in words when a search found it.
func (p PastVersion) Searchable() string {
	const form = "2006-01-02 15:04:05"
	switch {
	case p.State == PastWaiting:
		return "not yet"
	case p.State == PastOvertaken:
		return "never, as far as known: overtaken"
	case p.State == PastRefused && p.SearchableAt == nil:
		return "never: refused by Elasticsearch"
	case p.State == PastRefused:
		return "from " + p.SearchableAt.Format(form) + ", until it was refused when it was sent again"
	case p.State == PastUnknown || p.SearchableAt == nil:
		return "not known"
	}
	gone := ""
	if p.Op == report.Delete {
		gone = "gone "
	}
	if p.UntilUnknown {
		return gone + "from " + p.SearchableAt.Format(form) + ", until when is not known"
	}
	if p.SearchableUntil == nil {
		return gone + "since " + p.SearchableAt.Format(form)
	}
	return gone + p.SearchableAt.Format(form) + " to " + p.SearchableUntil.Format(form)
}

// From tells in words from whom it came.
func (p PastVersion) From() string { return fromText(p.Sender, p.Address) }

func fromText(sender, address string) string {
	switch {
	case sender == "":
		return address
	case address == "":
		return sender
	}
	return sender + " at " + address
}

// past returns the page of a document's history that a request asks for, or nil if the journal
// has none.
func (p *page) past(ctx context.Context, in *request, key report.Key) (*Past, error) {
	h := p.status.histories()
	if h == nil {
		return nil, nil
	}
	before, err := in.number("before")
	if err != nil {
		return nil, err
	}
	past, err := h.gather(ctx, key, asked{before: report.Version(before), limit: defaultPast})
	if _, none := errors.AsType[*Problem](err); none { // the document says so
		return nil, nil
	}
	return &past, err
}

package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riskdex/internal/sanitize"
	"riskdex/report"
	"riskdex/search"
)

// The bounds of searches from the page: the time of one, how many run at once, the length of what is
// asked in bytes, and the number of hits that a page shows and that can be reached.
const (
	searchTimeout = 10 * time.Second
	mostSearches  = 4
	longestSearch = 2000
	searchPage    = 10
	mostHits      = 10_000
)

// trial is a search from the page, with what it found.
type trial struct {
	search.Query

	AllThreats []string
	Levels     []int
	Orders     []search.Order
	Found      *search.Result // nil if nothing is asked, and after an error
	Request    search.Request

	// Explained is the document whose score is explained, if any.
	Explained *report.Key
	Score     *search.Score

	asked url.Values // the query of the page, without what is to be explained
}

// search shows what a search finds, and why.
func (p *page) search(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	in := &request{r}
	t, err := p.readTrial(in)
	v.Trial, v.Words = t, t.Words
	if err == nil && len(t.asked) > 0 {
		err = p.try(r.Context(), t)
	}
	status := http.StatusOK
	if err != nil {
		v.Failed = problemOf(err)
		status = v.Failed.Status
	}
	p.write(w, status, "search.html", v)
}

// readTrial reads the form. What it returns with an error is fit to be shown in the form.
func (p *page) readTrial(in *request) (*trial, error) {
	t := &trial{Levels: []int{1, 2, 3, 4, 5}, Orders: []search.Order{search.Relevance, search.Newest, search.Nearest, search.Risk}}
	if p.status.Status.Index == nil {
		return t, notFound("There is nothing to search here.")
	}
	t.AllThreats = p.status.Status.Index.Threats()
	if len(in.URL.RawQuery) > longestSearch {
		return t, badRequest("That is too long for a search.")
	}
	t.asked = in.URL.Query()
	t.asked.Del("explain")
	var err error
	if t.Query, err = search.Parse(t.asked); err != nil {
		return t, err
	}
	t.Facets = true
	if name := in.text("explain"); name != "" {
		kind, id, _ := strings.Cut(name, "/")
		of := &request{in.Clone(in.Context())}
		of.URL.RawQuery = url.Values{"kind": {kind}, "id": {id}}.Encode()
		key, err := of.key()
		if err != nil {
			return t, err
		}
		t.Explained = &key
	}
	return t, nil
}

// try makes the search.
func (p *page) try(ctx context.Context, t *trial) error {
	if !p.searches.try() {
		return &Problem{Status: http.StatusServiceUnavailable, Detail: fmt.Sprintf("%d searches from this page are under way. Try again in a moment.", mostSearches)}
	}
	defer p.searches.free()
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	index := p.status.Status.Index
	found, err := index.Search(ctx, t.Query)
	t.Request = found.Request
	if err == nil {
		t.Found = &found
		if t.Explained != nil {
			var score search.Score
			if score, err = index.Score(ctx, t.Query, *t.Explained); err == nil {
				t.Score = &score
			}
		}
	}
	if _, is := errors.AsType[*search.Mistake](err); err == nil || is {
		return err
	}
	p.status.Log.Warn("a search from the status page failed", "error", err)
	return &Problem{Status: http.StatusBadGateway, Detail: "Elasticsearch did not answer the search: " + err.Error()}
}

// HasKind reports whether the search is narrowed to a kind.
func (t *trial) HasKind(kind report.Kind) bool { return slices.Contains(t.Kinds, kind) }

// Typed returns a field of the form as it was typed.
func (t *trial) Typed(name string) string {
	return strings.ToValidUTF8(strings.Join(t.asked[name], ", "), "")
}

// Distance says how far a hit is from the point that it is to be near; nothing without one.
func (t *trial) Distance(h search.Hit) string {
	if _, far := h.Nearest(t.Near); far != nil {
		return fmt.Sprintf("%.1f km away", *far)
	}
	return ""
}

// HasThreat reports whether the search is narrowed to a threat.
func (t *trial) HasThreat(threat string) bool { return slices.Contains(t.Threats, threat) }

// IsExplained reports whether the score of a hit is explained.
func (t *trial) IsExplained(h search.Hit) bool {
	return t.Score != nil && *t.Explained == report.Key{Kind: h.Kind, ID: h.ID}
}

// Aside reports whether the document whose score is explained is not among the hits shown.
func (t *trial) Aside() bool {
	return t.Score != nil && !slices.ContainsFunc(t.Found.Hits, t.IsExplained)
}

// Explain returns the address of the search with the score of a hit explained.
func (t *trial) Explain(h search.Hit) string {
	return t.address(func(q url.Values) { q.Set("explain", string(h.Kind)+"/"+string(h.ID)) }) + "#explained"
}

// Instead returns the address of the search with other words.
func (t *trial) Instead(words string) string {
	return t.address(func(q url.Values) { q.Set("q", words); q.Del("from") })
}

// Narrowed returns the address of the search narrowed to a value of a facet as well, or no longer, or
// nothing: a search cannot be narrowed to one risk level, only to it and those above.
func (t *trial) Narrowed(field, value string) string {
	name, ok := map[string]string{"kind": "kind", "country": "country", "threats": "threat"}[field]
	if !ok {
		return ""
	}
	return t.address(func(q url.Values) {
		q.Del("from")
		others := slices.DeleteFunc(strings.Split(strings.Join(q[name], ","), ","), func(v string) bool { return strings.EqualFold(strings.TrimSpace(v), value) || v == "" })
		if !t.IsChosen(field, value) {
			others = append(others, value)
		}
		q[name] = others
	})
}

// IsChosen reports whether the search is narrowed to a value of a facet.
func (t *trial) IsChosen(field, value string) bool {
	return field == "kind" && t.HasKind(report.Kind(value)) || field == "threats" && t.HasThreat(value) || field == "country" && slices.Contains(t.Countries, value)
}

// Position returns the place of a hit in the whole list.
func (t *trial) Position(i int) int { return t.From + i + 1 }

// Before and After return the addresses of the pages before and after this one, if there are any.
func (t *trial) Before() string {
	if t.From == 0 {
		return ""
	}
	return t.page(max(t.From-searchPage, 0))
}

// After is the other one.
func (t *trial) After() string {
	next := t.From + searchPage
	if next >= t.Found.Total || next+searchPage > mostHits {
		return ""
	}
	return t.page(next)
}

func (t *trial) page(from int) string {
	return t.address(func(q url.Values) {
		q.Del("from")
		if from > 0 {
			q.Set("from", strconv.Itoa(from))
		}
	})
}

// address returns the address of the search with a change, and without an explanation.
func (t *trial) address(change func(url.Values)) string {
	q := url.Values{}
	for name, values := range t.asked {
		if strings.Join(values, "") != "" {
			q[name] = slices.Clone(values)
		}
	}
	change(q)
	return "/search?" + q.Encode()
}

// longestJSON bounds the requests and explanations on a page, in bytes.
const longestJSON = 200_000

// prettyJSON returns JSON for people to read.
func prettyJSON(text []byte) string {
	var pretty bytes.Buffer
	if json.Indent(&pretty, text, "", "  ") == nil {
		text = pretty.Bytes()
	}
	if len(text) > longestJSON {
		return sanitize.Lines(string(text[:longestJSON])) + "…"
	}
	return sanitize.Lines(string(text))
}

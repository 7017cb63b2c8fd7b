package admin

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// searchTimeout bounds the time of a search from the page, and longestSearch its words in
// bytes.
const (
	searchTimeout = 10 * time.Second
	longestSearch = 500
)

// search shows the hits of a search.
func (p *page) search(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	v.Words = strings.ToValidUTF8(strings.TrimSpace(r.URL.Query().Get("q")), "")
	status := http.StatusOK
	switch {
	case p.status.Status.Index == nil:
		status, v.Failed = http.StatusNotFound, notFound("There is nothing to search here.")
	case len(v.Words) > longestSearch:
		status, v.Failed = http.StatusBadRequest, badRequest("That is too long for a search.")
		v.Words = ""
	case v.Words != "":
		ctx, cancel := context.WithTimeout(r.Context(), searchTimeout)
		defer cancel()
		found, err := p.status.Status.Index.Search(ctx, v.Words)
		if err != nil {
			p.status.Log.Warn("a search from the status page failed", "error", err)
			status, v.Failed = http.StatusBadGateway, &Problem{Detail: "Elasticsearch did not answer the search: " + err.Error()}
			break
		}
		v.Found = &found
	}
	p.write(w, status, "search.html", v)
}

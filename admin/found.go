package admin

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// searchTimeout bounds how long a search from the page may take, and
// longestSearch how many bytes it may have.
const (
	searchTimeout = 10 * time.Second
	longestSearch = 500
)

// search shows what a search finds.
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

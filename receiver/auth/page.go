package auth

import (
	"net/http"
	"time"

	"riskdex/internal/webpage"
)

// webPages turns away what a web page has its reader's browser send. No page of ours
// makes deliveries, so what is told of browsers on the admin listener is enough here.
type webPages struct{}

func (webPages) ready() error { return nil }

func (webPages) greet(r *http.Request, _ time.Time) Cause {
	if webpage.FromAnotherSite(r) || webpage.ByAName(r) {
		return CauseWebPage
	}
	return ""
}

package auth

import (
	"net/http"
	"time"

	"riskdex/internal/webpage"
)

// webPages rejects what a web page has its reader's browser send. No page of ours makes
// deliveries, so the tests of the admin listener for other sites are enough here.
type webPages struct{}

func (webPages) ready() error { return nil }

func (webPages) check(r *http.Request, _ time.Time) fault {
	if webpage.FromAnotherSite(r) || webpage.ByAName(r) {
		return fault{cause: CauseWebPage}
	}
	return fault{}
}

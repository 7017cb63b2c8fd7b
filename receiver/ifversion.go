package receiver

import (
	"net/http"
	"strconv"
	"strings"

	"riskdex/report"
)

// ifVersion returns the version that a document must have to be deleted, as If-Match states it
// (RFC 9110, section 13.1.1); 0 if any will do, and -1, which no document
// has, if what is stated can be none. That goes to the journal like any other, where a signed
// DELETE leaves its receipt.
func ifVersion(h http.Header) report.Version {
	stated := strings.Join(h.Values("If-Match"), ",")
	if text := strings.TrimSpace(stated); text == "" || text == "*" {
		return 0
	}
	digits, opened := strings.CutPrefix(strings.TrimSpace(stated), `"`)
	digits, closed := strings.CutSuffix(digits, `"`)
	v, err := strconv.ParseInt(digits, 10, 64)
	if !opened || !closed || err != nil || v <= 0 {
		return -1
	}
	return report.Version(v)
}

// outdated answers a DELETE of a version that is not the newest. It is not kept as a refusal:
// its sender asked for that.
func outdated() *problem {
	return newProblem(http.StatusPreconditionFailed, reasonOutdated, "The document has another version than the one in If-Match, so it was not removed.")
}

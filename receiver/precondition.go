package receiver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"riskdex/report"
)

// precondition returns what must be so of a document before the delivery may change it (RFC 9110,
// section 13), as Change.If; nil if nothing must. The entity tag of a document is its version, and
// the date of its last modification is when that was accepted. A condition that cannot be read is
// not met.
func precondition(method string, h http.Header) func(newest report.Version, acceptedAt time.Time) bool {
	match, noneMatch, unmodified := stated(h, "If-Match"), stated(h, "If-None-Match"), stated(h, "If-Unmodified-Since")
	switch {
	case match == nil && noneMatch == nil && unmodified == nil:
		return nil
	case method == http.MethodPost: // nothing is known to be at a collection, or not to be
		return func(report.Version, time.Time) bool { return false }
	case method == http.MethodDelete && match != nil && *match == "*" && noneMatch == nil:
		return nil // what is not there need not be removed
	}
	return func(newest report.Version, acceptedAt time.Time) bool {
		if match != nil {
			if found, ok := names(*match, newest, false); !found || !ok {
				return false
			}
		} else if unmodified != nil && newest != 0 {
			since, err := http.ParseTime(*unmodified)
			if err != nil || acceptedAt.Truncate(time.Second).After(since) {
				return false
			}
		}
		if noneMatch != nil {
			found, ok := names(*noneMatch, newest, true)
			return ok && !found
		}
		return true
	}
}

// stated returns all of a header, nil if it is not there.
func stated(h http.Header, name string) *string {
	values := h.Values(name)
	if len(values) == 0 {
		return nil
	}
	return new(strings.TrimSpace(strings.Join(values, ",")))
}

// names reports whether a list of entity tags has that of a version, and whether the list can be
// read. Weak tags name a version only if weak is set. No list names version 0, which is none.
func names(list string, v report.Version, weak bool) (found, ok bool) {
	if list == "*" {
		return v != 0, true
	}
	for list = strings.Trim(list, ", \t"); list != ""; {
		tag, isWeak := strings.CutPrefix(list, "W/")
		tag, opened := strings.CutPrefix(tag, `"`)
		tag, rest, closed := strings.Cut(tag, `"`)
		list = strings.TrimLeft(rest, ", \t")
		if !opened || !closed || list != "" && !slices.Contains([]byte(rest[:len(rest)-len(list)]), ',') {
			return false, false
		}
		found = found || v != 0 && tag == strconv.FormatInt(int64(v), 10) && (weak || !isWeak)
	}
	return found, true
}

// outdated answers a delivery whose precondition is not met. It is not kept as a refusal: its
// sender asked for that.
func outdated(method string) *problem {
	detail := "The document is not as If-Match, If-None-Match or If-Unmodified-Since demands, so nothing was changed."
	if method == http.MethodPost {
		detail = "If-Match, If-None-Match and If-Unmodified-Since are about the document at a path, so a POST can " +
			"meet none, and nothing was changed. Deliver it without them, or with PUT to the path of its document."
	}
	return newProblem(http.StatusPreconditionFailed, reasonOutdated, detail)
}

// part returns the answer to a body that is only a part of what it is to replace (RFC 9110, section
// 14.5); nil to any other.
func part(h http.Header) *problem {
	if stated(h, "Content-Range") == nil {
		return nil
	}
	return newProblem(http.StatusBadRequest, reasonTruncated,
		"Content-Range says that the body is a part of a record, which would be taken for all of it. "+
			"Send the whole record, without Content-Range.")
}

package auth

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
)

// Cause is why a request is rejected: one word, the label `reason` of a metric.
type Cause string

// The causes.
const (
	CauseAddress     Cause = "address"     // not in Config.AllowFrom
	CauseMissing     Cause = "missing"     // a header that is asked for is not there, or not in its form
	CauseCertificate Cause = "certificate" // no client certificate, or one that is not trusted
	CauseCredentials Cause = "credentials" // a wrong bearer token, or wrong basic credentials
	CauseSignature   Cause = "signature"   // a wrong signature
	CauseTimestamp   Cause = "timestamp"   // signed too long ago, or in the future
	CauseClosed      Cause = "door_closed" // our own secrets cannot be read: nobody is accepted
	CauseWebPage     Cause = "web_page"    // sent by a browser for a web page
)

// Causes returns every cause, always in the same order.
func Causes() []Cause {
	return []Cause{CauseAddress, CauseMissing, CauseCertificate, CauseCredentials, CauseSignature, CauseTimestamp, CauseClosed, CauseWebPage}
}

// fault is why a request is rejected: nothing is wrong where there is no cause.
type fault struct {
	cause Cause
	says  string // a sentence for the sender; empty where that would help to guess a secret
}

// secret reports whether a secret is wrong. The sender is told what else is wrong first: whoever
// lacks one of several secrets could otherwise tell whether the others are right.
func (f fault) secret() bool { return f.cause == CauseCredentials || f.cause == CauseSignature }

// lacks is the fault of a request without a header, or with one that cannot be read.
func lacks(format string, args ...any) fault {
	return fault{CauseMissing, fmt.Sprintf(format, args...)}
}

// Refusal is the answer to a rejected request. All answers with 401 to wrong secrets are alike; only
// Cause, which the sender does not see, tells.
type Refusal struct {
	Cause      Cause
	Status     int
	Reason     string   // one word, for the sender
	Detail     string   // a sentence or two, for the sender
	Challenges []string // values of WWW-Authenticate
}

// Reasons returns the reasons of all refusals, once each.
func Reasons() []string {
	var all []string
	for _, cause := range Causes() {
		if reason := new(Authenticator).refuse(fault{cause: cause}).Reason; !slices.Contains(all, reason) {
			all = append(all, reason)
		}
	}
	return all
}

func (a *Authenticator) refuse(wrong fault) *Refusal {
	cause := wrong.cause
	switch cause {
	case CauseAddress:
		return &Refusal{Cause: cause, Status: http.StatusForbidden, Reason: "address",
			Detail: "Deliveries are not taken from this address. The operator can let it in with --allow-from."}
	case CauseCertificate:
		return &Refusal{Cause: cause, Status: http.StatusForbidden, Reason: "certificate",
			Detail: "A client certificate that riskdex trusts is required."}
	case CauseWebPage:
		return &Refusal{Cause: cause, Status: http.StatusForbidden, Reason: "web_page",
			Detail: "A browser sent this on behalf of a web page: Origin names another site, or Host is a name that anybody could point at this address. " +
				"Such requests are accepted only if a token or a signature is required. Send it from a program, without Origin and Sec-Fetch-Site."}
	case CauseClosed:
		// Not 401: the sender has done nothing wrong, and what it sends is to be sent again.
		return &Refusal{Cause: cause, Status: http.StatusServiceUnavailable, Reason: "door_closed",
			Detail: "Nobody's deliveries can be accepted now, because of a mistake in the settings of riskdex. Send it again later."}
	}
	says := cmp.Or(wrong.says, "What the delivery shows is wrong: another secret made it, or it was made of another body.")
	return &Refusal{Cause: cause, Status: http.StatusUnauthorized, Reason: "unauthorized",
		Detail: says + " " + a.ask, Challenges: a.challenges}
}

package auth

import (
	"net/http"
	"slices"
)

// Cause is why a request is rejected: one word, the label `reason` of a metric.
type Cause string

// The causes.
const (
	CauseAddress     Cause = "address"     // not in Config.AllowFrom
	CauseCertificate Cause = "certificate" // no client certificate, or one that is not trusted
	CauseCredentials Cause = "credentials" // no bearer token or basic credentials, or wrong ones
	CauseSignature   Cause = "signature"   // no signature, or a wrong one
	CauseTimestamp   Cause = "timestamp"   // signed too long ago, or in the future
	CauseClosed      Cause = "door_closed" // our own secrets cannot be read: nobody is accepted
	CauseWebPage     Cause = "web_page"    // sent by a browser for a web page
)

// Causes returns every cause, always in the same order.
func Causes() []Cause {
	return []Cause{CauseAddress, CauseCertificate, CauseCredentials, CauseSignature, CauseTimestamp, CauseClosed, CauseWebPage}
}

// Refusal is the answer to a rejected request. All answers with 401 are alike, whatever was missing
// or wrong; only Cause, which the sender does not see, tells.
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
		if reason := new(Authenticator).refuse(cause).Reason; !slices.Contains(all, reason) {
			all = append(all, reason)
		}
	}
	return all
}

func (a *Authenticator) refuse(cause Cause) *Refusal {
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
	return &Refusal{Cause: cause, Status: http.StatusUnauthorized, Reason: "unauthorized",
		Detail: a.ask, Challenges: a.challenges}
}

package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guarded lets nobody see or change anything through the browser of a person who is
// reading a web page of somebody else. Programs other than browsers are not
// concerned: they say nothing of where they come from. mayBeOurs tells whether a
// page may be one of riskdex's own, by the host that it was called under; of another
// one, the browser itself keeps from a page what it gets to read.
func guarded(next http.Handler, mayBeOurs func(host string) bool) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, &Problem{Status: http.StatusForbidden, Detail: "This comes from a web page of another site, which may change nothing here."})
	}))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromBrowser(r) && !forSupervisors(r) && !mayBeOurs(r.Host) {
			writeProblem(w, &Problem{Status: http.StatusForbidden,
				Detail: "Without --admin-token-file, a browser is answered only where it calls riskdex by an IP address or localhost. Call it so, or use the riskdex commands."})
			return
		}
		next.ServeHTTP(w, r)
	}))
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// fromBrowser tells by what browsers add to requests, and no page can take away. Over
// plain HTTP, to a name other than localhost, they say neither Origin nor Sec-Fetch-…
// with what only reads; what is left is Accept-Language, which a page can change, also
// to nothing, and not leave out.
func fromBrowser(r *http.Request) bool {
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Accept-Language"} {
		if _, said := r.Header[name]; said {
			return true
		}
	}
	return false
}

// isAddress tells whether host is an IP address or localhost. A name can be made
// to point here by whoever owns it (DNS rebinding), and a page under that name
// then counts as one of ours.
func isAddress(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") // there is no port
	}
	if name == "localhost" {
		return true
	}
	_, err = netip.ParseAddr(name)
	return err == nil
}

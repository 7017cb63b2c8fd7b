package admin

import (
	"net"
	"net/http"
	"net/netip"
)

// guarded lets nobody change anything through the browser of a person who is
// reading a web page of somebody else. Programs other than browsers are not
// concerned: they say nothing of where they come from. mayBeOurs tells whether a
// page may be one of riskdex's own, by the host that it was called under.
func guarded(next http.Handler, mayBeOurs func(host string) bool) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, &Problem{Status: http.StatusForbidden, Detail: "This comes from a web page of another site, which may change nothing here."})
	}))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if changes(r.Method) && fromBrowser(r) && !mayBeOurs(r.Host) {
			writeProblem(w, &Problem{Status: http.StatusForbidden,
				Detail: "A browser may change something only where riskdex is called by its IP address or localhost. Use the riskdex commands."})
			return
		}
		next.ServeHTTP(w, r)
	}))
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// fromBrowser tells by what browsers add to every request that changes
// something, and no page can take away.
func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// isAddress tells whether host is an IP address or localhost. A name can be made
// to point here by whoever owns it (DNS rebinding), and a page under that name
// then counts as one of ours.
func isAddress(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if name == "localhost" {
		return true
	}
	_, err = netip.ParseAddr(name)
	return err == nil
}

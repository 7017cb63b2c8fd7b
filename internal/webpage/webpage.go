// Package webpage recognizes requests that a web page of somebody else makes a person's
// browser send. A listener without authentication, or with credentials that browsers send
// by themselves, has to refuse them: otherwise the page could do what only the person may
// do.
//
// Programs other than browsers are not affected. They send none of the headers by which a
// browser is recognized, and may use any host name.
package webpage

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

var protection = http.NewCrossOriginProtection()

// FromAnotherSite reports whether a request that changes something comes from a page of
// another site. Another port of the same host counts as another site.
func FromAnotherSite(r *http.Request) bool { return protection.Check(r) != nil }

// ByAName reports whether a browser uses a host name other than localhost, and not an IP
// address. The owner of a name can make it point here (DNS rebinding). To the browser, a page
// under that name is then of the same site as the listener.
func ByAName(r *http.Request) bool { return fromBrowser(r) && !isAddress(r.Host) }

// fromBrowser goes by headers that browsers add and no page can remove. They add Origin to all
// requests that change something, whatever the page is. To requests that only read, over plain
// HTTP and to a name other than localhost, they add neither Origin nor Sec-Fetch-…. There only
// Accept-Language is left, which a page can change, even to nothing, but not remove. Programs
// such as fetch of Node.js send Sec-Fetch-Mode and Accept-Language as well.
func fromBrowser(r *http.Request) bool {
	names := []string{"Origin", "Sec-Fetch-Site"}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		names = append(names, "Sec-Fetch-Mode", "Accept-Language")
	}
	for _, name := range names {
		if _, said := r.Header[name]; said {
			return true
		}
	}
	return false
}

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

// Package webpage tells the requests that a page of somebody else has a person's
// browser make. Whoever listens where nothing has to be shown, or something that
// browsers show by themselves, refuses them: the page would use what only the person
// may use.
//
// Programs other than browsers are not concerned. They send none of the headers by
// which a browser is told, and may call by any name.
package webpage

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

var protection = http.NewCrossOriginProtection()

// FromAnotherSite tells whether a request that changes something comes from a page of
// another site, which includes another port of the same host.
func FromAnotherSite(r *http.Request) bool { return protection.Check(r) != nil }

// ByAName tells whether a browser calls under another name than an IP address or
// localhost. Whoever owns a name can make it point here (DNS rebinding), and to the
// browser a page under it is then of the same site as the listener.
func ByAName(r *http.Request) bool { return fromBrowser(r) && !isAddress(r.Host) }

// fromBrowser goes by what browsers add to requests and no page can take away: Origin
// to all that change something, whatever the page is. Over plain HTTP and to a name
// other than localhost they add neither Origin nor Sec-Fetch-… to what only reads; what
// is left there is Accept-Language, which a page can change, also to nothing, and not
// leave out. Programs such as fetch of Node.js send the latter two as well.
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

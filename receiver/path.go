package receiver

import (
	"net/http"
	"net/url"
	"strings"
)

// canonicalPath returns the one spelling of an escaped path: every segment is decoded and
// encoded again, so that `/c%69ties` becomes `/cities` while `a%2Fb` remains one segment. The
// router matches this form; an id is decoded from it once more.
func canonicalPath(escaped string) (string, error) {
	segments := strings.Split(escaped, "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return "", err
		}
		segments[i] = url.PathEscape(decoded)
	}
	return strings.Join(segments, "/"), nil
}

// withCanonicalPath passes requests on with URL.Path in canonical form. Otherwise the router
// would read an id with `%2F` as two segments and answer 404.
func withCanonicalPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		canonical, err := canonicalPath(r.URL.EscapedPath())
		if err != nil {
			// Cannot happen, because net/url has parsed this path before; the router would
			// answer 404.
			canonical = r.URL.Path
		}
		matched := *r
		u := *r.URL
		u.Path, u.RawPath = canonical, ""
		matched.URL = &u
		next.ServeHTTP(w, &matched)
	})
}

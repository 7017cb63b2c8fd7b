package admin

import (
	"net/http"
	"strings"
)

// withToken requires a token that allow accepts: as a bearer token or, for browsers, which
// ask the person for it, as the password of any user. /livez and /readyz, which supervisors
// ask, are open to all. An error of allow says why no token can be checked now, and has
// been logged.
func withToken(allow func(token string) (bool, error), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if forSupervisors(r) {
			next.ServeHTTP(w, r)
			return
		}
		ok, err := allow(tokenOf(r))
		switch {
		case err != nil:
			writeProblem(w, &Problem{Status: http.StatusServiceUnavailable,
				Detail: "Nobody is let in, because riskdex cannot read the tokens that it knows. Its log says why."})
		case !ok:
			w.Header().Set("WWW-Authenticate", `Basic realm="riskdex: any user, and the token as the password", charset="UTF-8"`)
			w.Header().Add("WWW-Authenticate", `Bearer realm="riskdex"`)
			writeProblem(w, &Problem{Status: http.StatusUnauthorized,
				Detail: "A token is required: in Authorization as a bearer token; for the commands, --admin-token-file; in a browser, as the password of any user."})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func tokenOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

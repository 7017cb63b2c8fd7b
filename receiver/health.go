package receiver

import (
	"net/http"
	"strconv"
)

// isHealthCheck answers a balancer or supervisor, without credentials, and reports whether the
// request is of one. It says no more than whether deliveries can be accepted.
func (r *Receiver) isHealthCheck(w http.ResponseWriter, req *http.Request) bool {
	if mayCarryDelivery(req.Method) {
		return false
	}
	status, says := http.StatusOK, "ok\n"
	switch req.URL.Path {
	case "/":
		says = "riskdex takes deliveries here.\n"
	case "/livez":
	case "/readyz":
		if r.ready != nil && r.ready() != nil {
			status, says = http.StatusServiceUnavailable, "Deliveries cannot be accepted now.\n"
			w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
		}
	default:
		return false
	}
	if r.authenticator.Required() { // and who asks is not known
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Allow", "GET, HEAD, OPTIONS")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(says)) // net/http leaves it out for HEAD
	return true
}

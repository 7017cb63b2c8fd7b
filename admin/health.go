package admin

import (
	"net/http"

	"github.com/julienschmidt/httprouter"
)

// Health is what /livez and /readyz answer from.
type Health struct {
	// CanAccept returns why deliveries cannot be made durable now, or nil if they can.
	CanAccept func() error
	// ElasticsearchUp reports whether Elasticsearch answered the last request. It does not affect
	// readiness, because deliveries wait in the journal.
	ElasticsearchUp func() bool
}

// readiness is the answer of /readyz.
type readiness struct {
	Ready           bool   `json:"ready"`
	Reason          string `json:"reason,omitempty"`
	ElasticsearchUp bool   `json:"elasticsearch_up"`
}

// headAsGet answers HEAD like GET; net/http leaves the body out.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			asGet := *r
			asGet.Method = http.MethodGet
			r = &asGet
		}
		next.ServeHTTP(w, r)
	})
}

// forSupervisors reports whether a request is answered to everybody, whatever host name it
// uses.
func forSupervisors(r *http.Request) bool {
	return r.URL.Path == "/livez" || r.URL.Path == "/readyz"
}

func (h Health) register(router *httprouter.Router) {
	router.GET("/livez", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
	router.GET("/readyz", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		state := readiness{Ready: true, ElasticsearchUp: h.ElasticsearchUp()}
		status := http.StatusOK
		if err := h.CanAccept(); err != nil {
			state.Ready, state.Reason = false, err.Error()
			status = http.StatusServiceUnavailable
		}
		writeJSON(w, status, "application/json", state)
	})
}

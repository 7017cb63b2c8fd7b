package admin

import (
	"context"
	"net/http"
	"time"
)

// readLimit bounds how many calls that read records or search are handled at the same time. It
// holds a value for each of them.
type readLimit chan struct{}

// Bounds of the calls for one document, one history or one delivery, and of edited bodies.
const (
	mostEdits   = 2                // that arrive at the same time
	mostLookups = 8                // at the same time, each until its client has received the answer
	readTimeout = 20 * time.Second // for a call to wait for a place, and for the feed to read a page
)

var errReadsBusy = &Problem{Status: http.StatusServiceUnavailable, Detail: "Too many reads are under way, or waiting for slow clients. Try again later."}

// take waits for a place. The caller frees the place.
func (l readLimit) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// try takes a place if there is one. The caller frees it.
func (l readLimit) try() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l readLimit) free() { <-l }

// bound returns a handler that passes calls to h, as many at a time as the limit allows.
func (l readLimit) bound(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), readTimeout, errReadsBusy)
		err := l.take(ctx)
		cancel()
		if err != nil {
			writeProblem(w, problemOf(err))
			return
		}
		defer l.free()
		// Others may wait for the place, so the client gets less time than the listener gives.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(documentTimeout + clientTimeout))
		h.ServeHTTP(w, r)
	})
}

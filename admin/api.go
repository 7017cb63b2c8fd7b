package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/julienschmidt/httprouter"

	"riskdex/report"
)

// call is one call of the JSON API. Its answer is encoded as JSON, and its error becomes a
// Problem.
type call struct {
	method, path string
	query        string // the names allowed in the query, separated by spaces
	handle       func(*request) (any, error)
}

// api serves calls.
type api struct {
	log     *slog.Logger
	maxBody int64
	lookups lookups
}

func (a *api) register(router *httprouter.Router, calls []call) {
	for _, c := range calls {
		router.Handler(c.method, c.path, a.handler(c))
	}
}

// registerLookups is register for calls that read records.
func (a *api) registerLookups(router *httprouter.Router, calls []call) {
	for _, c := range calls {
		router.Handler(c.method, c.path, a.lookups.handler(c.path, a.handler(c)))
	}
}

func (a *api) handler(c call) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, a.maxBody)
		in := &request{r}
		var answer any
		err := in.checkQuery(c.query)
		if err == nil {
			answer, err = c.handle(in)
		}
		if err != nil {
			p := problemOf(err)
			if p.Status >= http.StatusInternalServerError {
				a.log.ErrorContext(r.Context(), "a call to the admin listener failed", "method", c.method, "path", c.path, "error", err)
			}
			writeProblem(w, p)
			return
		}
		if changes(c.method) {
			a.log.InfoContext(r.Context(), "a call of the admin listener was carried out", "method", c.method, "path", c.path, "query", r.URL.RawQuery)
		}
		writeJSON(w, http.StatusOK, "application/json", answer)
	})
}

// request reads the parameters of a call. They are in the query and not in the path,
// because any text can be an id.
type request struct{ *http.Request }

func (r *request) text(name string) string { return r.URL.Query().Get(name) }

// flag returns the flag of that name in the query, and false if it is not there. Any value
// other than true or false is an error: a client that sends repair=1 does want something.
func (r *request) flag(name string) (bool, error) {
	switch text := r.text(name); text {
	case "true", "false", "":
		return text == "true", nil
	default:
		return false, badRequest(fmt.Sprintf("%s is %q in the query, and must be true or false.", name, text))
	}
}

// all reports whether the query asks for all. It is an error if the query has any of the
// names in one as well.
func (r *request) all(one ...string) (bool, error) {
	all, err := r.flag("all")
	for _, name := range one {
		if all && r.text(name) != "" {
			return false, badRequest(fmt.Sprintf("The query has both all=true and %s: say which is meant, one or all.", name))
		}
	}
	return all, err
}

// kinds returns the kind in the query, or all kinds if there is none.
func (r *request) kinds() ([]report.Kind, error) {
	if r.text("kind") == "" {
		return report.Kinds(), nil
	}
	kind, err := r.kind()
	return []report.Kind{kind}, err
}

func (r *request) kind() (report.Kind, error) {
	kind, err := report.ParseKind(r.text("kind"))
	if err != nil {
		return "", badRequest(fmt.Sprintf("Say which kind in the query: %v.", err))
	}
	return kind, nil
}

// page returns the kind in the query, and how much of it a page may have.
func (r *request) page() (kind report.Kind, limit int, err error) {
	if kind, err = r.kind(); err == nil {
		limit, err = r.limit()
	}
	return kind, limit, err
}

func (r *request) key() (report.Key, error) {
	kind, err := r.kind()
	if err != nil {
		return report.Key{}, err
	}
	id, err := report.ParseID(r.text("id"))
	if err != nil {
		return report.Key{}, badRequest(fmt.Sprintf("Say which document in the query: %v.", err))
	}
	return report.Key{Kind: kind, ID: id}, nil
}

// number returns a number in the query, or 0 if there is none.
func (r *request) number(name string) (int64, error) {
	if r.text(name) == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(r.text(name), 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("%s is %q in the query, and must be a whole number from 0.", name, r.text(name)))
	}
	return n, nil
}

// The length of a page by default and at most. A call for all of something works in batches of
// longestPage.
const (
	defaultPage = 100
	longestPage = 1000
)

func (r *request) limit() (int, error) {
	n, err := r.number("limit")
	if n == 0 {
		n = defaultPage
	}
	return int(min(n, longestPage)), err
}

// editedBody reads the body of the request. An empty one is an error.
func (r *request) editedBody(edits readLimit) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), readTimeout, errReadsBusy)
	err := edits.take(ctx)
	cancel()
	if err != nil {
		return nil, err
	}
	defer edits.free()
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, err
	case err != nil:
		return nil, badRequest("The edited body could not be read to its end: " + err.Error() + ".")
	case len(body) == 0:
		return nil, badRequest("The edited body is empty. To retry the kept one, use POST.")
	}
	// Only now: one that does not arrive is in the way of other edits, and not of deliveries.
	return body, report.AwaitMemory(r.Context(), int64(len(body)))
}

// Page is a part of a list. If Next is not empty, there may be more, which the same call
// returns with Next in the query.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

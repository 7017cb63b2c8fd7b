// Package requestid names every HTTP request, so that its answer, its span and the lines of the log
// that are about it can be put together, also with the log of a proxy or a sender that named it
// first.
package requestid

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
)

// Header is where a request may bring its id, and where its answer has it. It is not a standard,
// but what proxies and most servers use.
const Header = "X-Request-Id"

// longest is how long the id of a sender may be.
const longest = 128

type key struct{}

// Handler passes requests on to next, with their ids in their contexts and in the headers of
// their answers. A request without a usable id of its own gets one from newID.
func Handler(next http.Handler, newID func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(Header)
		if !usable(id) {
			id = newID()
		}
		w.Header().Set(Header, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, id)))
	})
}

// usable reports whether an id can stand in a log and on a command line as it is. Ids of common
// proxies can: they are hexadecimal numbers, UUIDs, or numbers and names between punctuation.
func usable(id string) bool {
	return id != "" && len(id) <= longest && strings.IndexFunc(id, func(r rune) bool {
		letter, digit := 'a' <= r|0x20 && r|0x20 <= 'z', '0' <= r && r <= '9'
		return !letter && !digit && !strings.ContainsRune("-._~:/+=@", r)
	}) < 0
}

// Of returns the id of the request whose context ctx is; empty if there is none.
func Of(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// InLog returns a handler that adds the id of its request to each line that is logged with the
// context of one.
func InLog(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := Of(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

package admin

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/julienschmidt/httprouter"
)

// longestForm is more than any form of the page takes, in bytes.
const longestForm = 64 << 10

// doneTexts say what a button has done, by the word in the query. No text of the query
// itself is shown, since anybody can choose that.
var doneTexts = map[string]string{
	"dead-retry":    "The dead letter was accepted once more. If Elasticsearch refuses it again, it comes back.",
	"dead-drop":     "The dead letter was dropped.",
	"refused-retry": "The refused delivery was retried. What is newer by now was left alone.",
	"refused-drop":  "The refused delivery was dropped.",
}

func (p *page) registerForms(router *httprouter.Router) {
	if p.status.DeadLetters != nil {
		d := &deadLetters{p.status.DeadLetters, p.status.Receiver, nil}
		router.Handler(http.MethodPost, "/dead/retry", p.button("dead-retry", func(r *request) (any, error) { return d.end(r, d.journal.RetryDead) }))
		router.Handler(http.MethodPost, "/dead/drop", p.button("dead-drop", func(r *request) (any, error) { return d.end(r, d.journal.DropDead) }))
	}
	if p.status.Refusals != nil {
		f := &refusals{p.status.Refusals, p.status.Receiver, nil}
		router.Handler(http.MethodPost, "/refused/retry", p.button("refused-retry", f.retry))
		router.Handler(http.MethodPost, "/refused/drop", p.button("refused-drop", f.drop))
	}
}

// button makes a call of the API with the values of a form, and redirects to the page, so that
// reloading the page repeats nothing.
func (p *page) button(done string, call func(*request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, longestForm)
		named, err := p.named(r)
		if err == nil {
			_, err = call(named)
		}
		if err != nil {
			v := p.view()
			v.Failed = problemOf(err)
			if v.Failed.Status >= http.StatusInternalServerError {
				p.status.Log.ErrorContext(r.Context(), "a button of the status page failed", "button", done, "error", err)
			}
			p.write(w, v.Failed.Status, "failed.html", v)
			return
		}
		p.status.Log.InfoContext(r.Context(), "a button of the status page was pressed", "button", done, "query", named.URL.RawQuery)
		http.Redirect(w, r, "/?done="+done, http.StatusSeeOther)
	})
}

// named returns the request of the API for the one document or delivery that the form
// names. It is never a request for all.
func (p *page) named(r *http.Request) (*request, error) {
	if err := r.ParseForm(); err != nil {
		return nil, badRequest("The form could not be read: " + err.Error() + ".")
	}
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(p.token)) != 1 {
		return nil, &Problem{Status: http.StatusForbidden, Detail: "Nothing was done: the page is from before riskdex was started anew. Look at it again, and press the button there."}
	}
	// Browsers change line ends in a form's values, so ids are encoded in it.
	id, err := base64.RawURLEncoding.DecodeString(r.PostForm.Get("id"))
	if err != nil {
		return nil, badRequest("The form names no document.")
	}
	query := url.Values{"id": {string(id)}}
	for _, name := range []string{"kind", "version", "number"} {
		query.Set(name, r.PostForm.Get(name))
	}
	api := r.Clone(r.Context())
	api.URL.RawQuery = query.Encode()
	return &request{api}, nil
}

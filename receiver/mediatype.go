package receiver

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"riskdex/receiver/body"
	"riskdex/receiver/jsonscan"
)

// maxTypeShown bounds how much of a Content-Type an answer repeats.
const maxTypeShown = 100

// notJSON returns the answer to a body that is not JSON: syntax, unless the body was sent as
// another type and does not look like broken JSON. The type of a body that is JSON does not
// matter: curl calls everything a form.
func notJSON(header http.Header, content []byte, syntax *problem) *problem {
	if body.LooksGzipped(content) {
		return newProblem(http.StatusBadRequest, reasonJSON,
			"The body looks like gzip, which is not said. Send it with the header Content-Encoding: gzip, or as JSON.")
	}
	if c := jsonscan.FirstByte(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))); c == 0 || c == '{' || c == '[' {
		return syntax
	}
	sent := header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(sent)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(sent), ";")
		kind = strings.TrimSpace(kind)
	}
	switch {
	case kind == "", kind == "text/plain", kind == "application/octet-stream", strings.HasSuffix(kind, "json"):
		return syntax
	case len(kind) > maxTypeShown:
		kind = strings.ToValidUTF8(kind[:maxTypeShown], "") + "…"
	}
	return newProblem(http.StatusUnsupportedMediaType, reasonType, fmt.Sprintf(
		"The body was sent as %q, and is not JSON. Deliveries are JSON: send the record itself as the body, with Content-Type application/json.", kind))
}

package auth

import (
	"net/http"
	"testing"
	"time"
)

// The authenticator accepts the credentials of a sender that reads the same files.
func TestCredentialsAreAccepted(t *testing.T) {
	cfg := Config{
		BearerFiles: []string{file(t, token+"\n"+otherToken)}, BasicFiles: []string{file(t, "anna:zürich-1234")},
		WebhookFiles: []string{file(t, keyTwo), file(t, keyOne)}, HubFiles: []string{file(t, keyOne+"\n"+keyTwo)},
	}
	g := start(t, cfg)
	c, err := NewCredentials(cfg, g.now)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(c *Credentials, body string) (header []string) {
		h := http.Header{}
		c.Show(h, "msg_1", []byte(body))
		for name, values := range h {
			for _, v := range values {
				header = append(header, name, v)
			}
		}
		return header
	}
	g.want("with a body", "", body, shown(c, body)...)
	g.want("without", "", "", shown(c, "")...)
	g.want("of another body", CauseSignature, body, shown(c, "")...)
	g.set(signedAt.Add(time.Hour))
	g.want("an hour later", "", body, shown(c, body)...)

	onlyOld := start(t, Config{WebhookFiles: []string{file(t, keyOne)}})
	onlyOld.set(g.now())
	onlyOld.want("with both keys, of which one is known", "", body, shown(c, body)...)

	nothing, err := NewCredentials(Config{}, g.now)
	if header := shown(nothing, body); err != nil || len(header) != 0 {
		t.Errorf("without files the sender shows %q, %v; want nothing", header, err)
	}
	if _, err := NewCredentials(Config{BearerFiles: []string{file(t, "")}}, g.now); err == nil {
		t.Error("an empty file was accepted")
	}
}

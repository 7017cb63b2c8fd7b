package auth

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Credentials authenticate a sender, with the files of an Authenticator: the first token, the first
// user with password, signatures with all keys of Standard Webhooks (as the specification requires
// during a rotation), and a signature with the first key for X-Hub-Signature-256. They may be used
// concurrently.
type Credentials struct {
	authorization []string
	webhook, hub  [][]byte
	now           func() time.Time
}

// NewCredentials reads the files that cfg names, once.
func NewCredentials(cfg Config, now func() time.Time) (*Credentials, error) {
	c := &Credentials{now: now}
	var errs []error
	read := func(what string, files []string, one func(string) ([]byte, error)) (list [][]byte) {
		if len(files) > 0 {
			s, err := openSecrets(nil, what, files, perLine(one), now, slog.New(slog.DiscardHandler))
			if err != nil {
				errs = append(errs, err)
				return nil
			}
			list, err = s.get()
			errs = append(errs, err)
		}
		return list
	}
	if list := read("bearer tokens", cfg.BearerFiles, bearerToken); len(list) > 0 {
		c.authorization = append(c.authorization, "Bearer "+string(list[0]))
	}
	if list := read("basic credentials", cfg.BasicFiles, basicCredentials); len(list) > 0 {
		c.authorization = append(c.authorization, "Basic "+base64.StdEncoding.EncodeToString(list[0]))
	}
	c.webhook = read("keys of Standard Webhooks", cfg.WebhookFiles, webhookKey)
	c.hub = read("keys for X-Hub-Signature-256", cfg.HubFiles, hubKey)
	return c, errors.Join(errs...)
}

// Show puts the credentials for a delivery into the header of a request. id is the
// delivery's, the same whenever it is sent again.
func (c *Credentials) Show(h http.Header, id string, body []byte) {
	if len(c.authorization) > 0 {
		h["Authorization"] = c.authorization
	}
	if len(c.webhook) > 0 {
		timestamp := strconv.FormatInt(c.now().Unix(), 10)
		var signatures []string
		for _, key := range c.webhook {
			signatures = append(signatures, webhookVersion+base64.StdEncoding.EncodeToString(sign(key, id, timestamp, body)))
		}
		h.Set(webhookID, id)
		h.Set(webhookTimestamp, timestamp)
		h.Set(webhookSignature, strings.Join(signatures, " "))
	}
	if len(c.hub) > 0 {
		h.Set(hubSignature, hubPrefix+hex.EncodeToString(signHub(c.hub[0], body)))
	}
}

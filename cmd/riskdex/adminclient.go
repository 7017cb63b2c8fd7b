package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"riskdex/admin"
	"riskdex/internal/address"
	"riskdex/internal/sanitize"
	"riskdex/receiver/auth"
)

// adminSettings are shared by the commands that talk to a running riskdex.
type adminSettings struct {
	Admin           string   `name:"admin" env:"RISKDEX_ADMIN_URL" default:"${admin}" placeholder:"URL" help:"The admin listener of the running riskdex. By default that of RISKDEX_ADMIN_LISTEN."`
	AdminTokenFiles []string `name:"admin-token-file" env:"RISKDEX_ADMIN_TOKEN_FILE" placeholder:"FILE" help:"A file whose first line is a token for it; of several files, the first one with a token is used. Or set the token itself in RISKDEX_ADMIN_TOKEN."`
	AdminCAFile     string   `name:"admin-ca-file" env:"RISKDEX_ADMIN_CA_FILE" placeholder:"FILE" help:"Authorities (PEM) to trust in place of the system's."`
}

// adminClient calls the JSON API of the admin listener.
type adminClient struct {
	base     string
	flag     string // that has it, or the variable
	variable string
	reread   func() (string, error)
	token    atomic.Pointer[string] // empty if none is set
	http     *http.Client
	io       streams
	here     bool // nobody named an address
}

func (s adminSettings) client(io streams) (*adminClient, error) {
	c, err := adminCalls{"admin", s.Admin, s.AdminTokenFiles, s.AdminCAFile}.client(io)
	if err == nil {
		c.here = s.Admin == servedHere()["admin"]
	}
	return c, err
}

// adminCalls say how an admin listener is called.
type adminCalls struct {
	name       string // with which the names of its settings begin
	url        string
	tokenFiles []string
	caFile     string
}

func (s adminCalls) client(io streams) (*adminClient, error) {
	u, err := address.Parse(s.url, "http://127.0.0.1:8081")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.flag(), err)
	}
	c := &adminClient{base: u.String(), flag: s.flag(), variable: s.variable("_URL"), io: io}
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	c.token.Store(&token)
	c.reread = s.token
	c.http, err = clientTrusting(s.flag()+"-ca-file", s.caFile)
	return c, err
}

func (s adminCalls) flag() string { return "--" + s.name }

func (s adminCalls) variable(end string) string { return ownPrefix + strings.ToUpper(s.name) + end }

// token returns the token to send. The files may be the ones that riskdex itself reads its
// tokens from: several, each with several tokens during a rotation. Any of the tokens is
// valid, so a file that cannot be read does not matter as long as another one can.
func (s adminCalls) token() (string, error) {
	var errs []error
	for _, file := range s.tokenFiles {
		text, err := content(s.flag()+"-token-file", file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, line := range auth.Lines(text) {
			return line, nil
		}
		errs = append(errs, fmt.Errorf("%s-token-file: there is no token in %s", s.flag(), file))
	}
	if len(errs) > 0 {
		return "", errors.Join(errs...)
	}
	return os.Getenv(s.variable("_TOKEN")), nil
}

// send sends a request with the token. A command may outlive the token, so a token that is not
// accepted is read again.
func (c *adminClient) send(req *http.Request) (*http.Response, error) {
	token := c.token.Load()
	res, err := c.sendWith(*token, req)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	now, err := c.reread()
	if err != nil || now == *token || now == "" {
		return res, nil // as it was answered
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return res, nil
		}
	}
	_ = res.Body.Close()
	c.token.Store(&now)
	return c.sendWith(now, again)
}

func (c *adminClient) sendWith(token string, req *http.Request) (*http.Response, error) {
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return c.http.Do(req) // #nosec G704 -- to where the operator has said
}

// call makes a call and decodes its answer. If the answer is a negative one (isNegative),
// it prints why and returns errNegative.
func (c *adminClient) call(ctx context.Context, method, path string, query url.Values, body []byte, answer any) error {
	err := c.ask(ctx, method, path, query, body, answer)
	if p, ok := errors.AsType[*admin.Problem](err); ok && isNegative(p.Status) {
		fmt.Fprintln(c.io.err, sanitize.OneLine(p.Detail))
		return errNegative
	}
	return err
}

// isNegative reports whether a status means that something does not exist or cannot be done.
func isNegative(status int) bool {
	return status == http.StatusNotFound || status == http.StatusConflict || status == http.StatusUnprocessableEntity
}

// ask makes a call and decodes its answer. An error may be a *admin.Problem.
func (c *adminClient) ask(ctx context.Context, method, path string, query url.Values, body []byte, answer any) error {
	if method != http.MethodGet {
		if err := c.guard(ctx); err != nil {
			return err
		}
	}
	res, err := c.open(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
		return fmt.Errorf("read the answer of %s to %s: %w", redacted(c.base), path, err)
	}
	return nil
}

// open makes a call and returns the successful answer, with its body still to be read. The
// caller closes the body.
func (c *adminClient) open(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", path, err)
	}
	res, err := c.send(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("call %s: %w", path, ctx.Err())
		}
		if detail, ok := errors.AsType[*url.Error](err); ok {
			err = detail.Err // the rest repeats the URL
		}
		return nil, fmt.Errorf("no riskdex answers at %s: %w. Start it with: riskdex serve; or say where it is with %s or %s",
			redacted(c.base), err, c.flag, c.variable)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s to %s: %w", redacted(c.base), path, err)
	}
	var p admin.Problem
	if err := json.Unmarshal(text, &p); err != nil || p.Detail == "" {
		return nil, fmt.Errorf("%s answered %s to %s, so it is not riskdex's admin listener: check %s",
			redacted(c.base), res.Status, path, c.flag)
	}
	return nil, &p
}

// each calls show with every item of a paged list. cursor names the query parameter that
// takes a page's Next.
func each[T any](ctx context.Context, c *adminClient, path, cursor string, query url.Values, show func(T) error) error {
	query.Set("limit", "1000")
	for {
		var page admin.Page[T]
		if err := c.call(ctx, http.MethodGet, path, query, nil, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := show(item); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query.Set(cursor, page.Next)
	}
}

// query builds a query from pairs of a name and a value, leaving out empty values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" { // #nosec G602 -- they come in pairs
			q.Set(pairs[i], pairs[i+1]) // #nosec G602 -- they come in pairs
		}
	}
	return q
}

// adminTokenVariable holds the admin listener's token itself, for use without a file. There
// is no such flag, because everybody on a machine can read the flags of its processes.
const adminTokenVariable = "RISKDEX_ADMIN_TOKEN" // #nosec G101 -- the name of a variable

// Package address parses the addresses of servers that riskdex is told to ask, so that each is
// either usable everywhere or refused at the start.
package address

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Parse returns the address of a server that speaks HTTP, without a slash at its end. It may have
// a path prefix, and a user with a password. The error says what is wrong with text and how to
// write it, after example; it has no password in it.
func Parse(text, example string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	shown := text
	if at := strings.LastIndex(text, "@"); at >= 0 {
		shown = "…" + text[at:]
	}
	wrong := func(format string, args ...any) (*url.URL, error) {
		return nil, fmt.Errorf("%q "+format, append([]any{shown}, args...)...)
	}
	if text == "" {
		return nil, fmt.Errorf("no address is given: write it like %s", example)
	}
	if strings.ContainsAny(text, " \t\r\n,") {
		return wrong("is more than one address, or has a space in it: give one, such as that of a load balancer, like %s", example)
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return wrong("does not begin with http:// or https://: write it like %s", example)
	}
	if lower := strings.ToLower(scheme); lower != "http" && lower != "https" {
		return wrong("begins with %s://: write http:// or https://, like %s", scheme, example)
	}
	u, err := url.Parse(text)
	switch {
	case strings.Contains(rest, "@") && (err != nil || u.User == nil) || strings.Count(rest, "@") > 1:
		return wrong("cannot be read: in the user and the password, write special characters as in %%40 for @ and %%2F for /")
	case err != nil || strings.Count(u.Host, ":") > 1 && !strings.HasPrefix(u.Host, "["):
		return wrong("cannot be read%s: write it like %s, and an IPv6 address in brackets, like http://[::1]:9200", because(err), example)
	case u.Hostname() == "":
		return wrong("has no host: write it like %s", example)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#"):
		end := strings.IndexAny(text, "?#")
		return wrong("has more behind its path: leave %s out", text[end:])
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); strings.HasSuffix(u.Host, ":") || u.Port() != "" && (err != nil || port == 0) {
		return wrong("has no port that there can be: write it like %s", example)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// because returns what an error of [url.Parse] says, without the address.
func because(err error) string {
	if detail, ok := errors.AsType[*url.Error](err); ok {
		return ": " + detail.Err.Error()
	}
	return ""
}

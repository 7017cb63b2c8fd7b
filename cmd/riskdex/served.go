package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"riskdex/admin"
)

// packageSettings are those of the service that a package installs.
var packageSettings = "/etc/riskdex/riskdex.env"

// settingsHere returns the settings of the riskdex that is served here by their names: of the environment, or
// else of the package's service, if its settings may be read. Secrets are not taken from there, since a
// command may be told to ask somebody else.
func settingsHere() func(name string) string {
	settings, _ := os.ReadFile(packageSettings)
	return func(name string) string {
		value := ""
		for line := range strings.Lines(string(settings)) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
				value = strings.Trim(text, `"'`)
			}
		}
		return cmp.Or(os.Getenv(name), value)
	}
}

// servedHere are the defaults of --admin and --to: where the riskdex listens that is served here.
func servedHere() kong.Vars {
	setting := settingsHere()
	at := func(variables, otherwise string) string {
		scheme := "http://"
		if setting(variables+"TLS_CERT_FILE") != "" {
			scheme = "https://"
		}
		host, port, err := net.SplitHostPort(setting(variables + "LISTEN"))
		switch ip := net.ParseIP(host); {
		case err != nil:
			return scheme + otherwise
		case host == "" || ip.IsUnspecified():
			host = "127.0.0.1"
		}
		return scheme + net.JoinHostPort(host, port)
	}
	prefix := strings.Trim(setting("RISKDEX_PREFIX"), "/")
	return kong.Vars{
		"admin":      at("RISKDEX_ADMIN_", "127.0.0.1:8081"),
		"deliveries": strings.TrimSuffix(at("RISKDEX_", "127.0.0.1:8080")+"/"+prefix, "/"),
	}
}

// guard refuses to change anything at a riskdex with another journal than the one that is served
// here: another riskdex may have its address. A riskdex that has no journal has no other one.
func (c *adminClient) guard(ctx context.Context) error {
	here := settingsHere()("RISKDEX_JOURNAL")
	if here == "" || !c.here { // whoever names an address means it
		return nil
	}
	var there admin.JournalInfo
	if err := c.ask(ctx, http.MethodGet, "/api/journal", nil, nil, &there); err != nil || there.Name == "" {
		return nil // the call itself says what is wrong
	}
	if want := journalInfo(here).Name; there.Name != want {
		return fmt.Errorf("the riskdex at %s has the journal %s, and RISKDEX_JOURNAL names %s: nothing was changed. Say with --admin where the right one is",
			redacted(c.base), there.Name, want)
	}
	return nil
}

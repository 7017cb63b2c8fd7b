package auth

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/reread"
)

// Any error in a file makes the authenticator refuse everybody, including those whose
// secret was valid before, until the file is corrected.
func TestNobodyIsAcceptedWhileAFileCannotBeUsed(t *testing.T) {
	replace := func(t *testing.T, name string, with func(string) error) {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := with(name); err != nil {
			t.Fatal(err)
		}
	}
	for what, spoil := range map[string]func(t *testing.T, name string){
		"emptied":       func(t *testing.T, name string) { write(t, name, "") },
		"only comments": func(t *testing.T, name string) { write(t, name, "\ufeff# "+token+"\n\n  \n#"+token) },
		"removed":       func(t *testing.T, name string) { replace(t, name, func(string) error { return nil }) },
		"a folder":      func(t *testing.T, name string) { replace(t, name, func(n string) error { return os.Mkdir(n, 0o700) }) },
		"a pipe": func(t *testing.T, name string) {
			replace(t, name, func(n string) error { return syscall.Mkfifo(n, 0o600) })
		},
		"a dangling link": func(t *testing.T, name string) {
			replace(t, name, func(n string) error { return os.Symlink("nowhere", n) })
		},
		// A file whose reading fails, even for root.
		"unreadable": func(t *testing.T, name string) {
			replace(t, name, func(n string) error { return os.Symlink("/proc/self/mem", n) })
		},
		"half written":   func(t *testing.T, name string) { write(t, name, token[:minSecret-1]) },
		"too large":      func(t *testing.T, name string) { write(t, name, token+strings.Repeat("\n#", 1<<20)) },
		"a line spoiled": func(t *testing.T, name string) { write(t, name, token+"\nnot a token\n") },
	} {
		t.Run(what, func(t *testing.T) {
			name, second := file(t, token), file(t, otherToken)
			g := start(t, Config{BearerFiles: []string{name, second}})
			g.want("before", "", body, "Authorization", "Bearer "+token)
			spoil(t, name)
			g.set(g.now().Add(reread.Every))
			for range 3 {
				g.want("meanwhile", CauseClosed, body, "Authorization", "Bearer "+token)
				g.want("meanwhile, with a secret of the other file", CauseClosed, body, "Authorization", "Bearer "+otherToken)
				g.want("meanwhile, with nothing", CauseClosed, body)
				g.want("meanwhile, with an empty token", CauseClosed, body, "Authorization", "Bearer ")
				if err := g.authenticator.Ready(); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("Ready: %v", err)
				}
				g.set(g.now().Add(reread.Every))
			}
			if n := strings.Count(g.log.String(), "level=ERROR"); n != 1 || !strings.Contains(g.log.String(), name) {
				t.Errorf("%d errors are logged, want one:\n%s", n, g.log)
			}
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			write(t, name, token)
			g.set(g.now().Add(reread.Every))
			g.want("after", "", body, "Authorization", "Bearer "+token)
			if err := g.authenticator.Ready(); err != nil {
				t.Error(err)
			}
			if log := g.log.String(); strings.Count(log, "read again") != 1 || strings.Contains(log, token) || strings.Contains(log, otherToken) {
				t.Errorf("the log does not say that the file is valid again:\n%s", log)
			}
		})
	}
}

// TestFileIsSwappedAsKubernetesDoes replaces the folder that a link points to, in one
// step: name, size and time of the file stay the same.
func TestFileIsSwappedAsKubernetesDoes(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_700_000_000, 0)
	put := func(version, content string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, version, "token")
		write(t, name, content)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(version, filepath.Join(dir, "..new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	put("..1", "the-first--token-ever")
	if err := os.Symlink("..data/token", filepath.Join(dir, "token")); err != nil {
		t.Fatal(err)
	}
	g := start(t, Config{BearerFiles: []string{filepath.Join(dir, "token")}})
	for i, next := range []string{"the-second-token-ever", "the-third--token-ever"} {
		before := []string{"the-first--token-ever", "the-second-token-ever"}[i]
		g.want("the token", "", body, "Authorization", "Bearer "+before)
		put(fmt.Sprint("..", i+2), next)
		g.set(g.now().Add(reread.Every))
		g.want("the old one", CauseCredentials, body, "Authorization", "Bearer "+before)
		g.want("the new one", "", body, "Authorization", "Bearer "+next)
	}
}

// Files are not read with every delivery, and a clock that jumps back does not keep an
// old secret valid.
func TestFilesAreReadAtMostEverySecond(t *testing.T) {
	name := file(t, token)
	g := start(t, Config{BearerFiles: []string{name}})
	write(t, name, otherToken)
	g.set(signedAt.Add(reread.Every - 1))
	g.want("within the second", "", body, "Authorization", "Bearer "+token)
	g.set(signedAt.Add(-time.Hour))
	g.want("an hour earlier", CauseCredentials, body, "Authorization", "Bearer "+token)
	g.want("the new one", "", body, "Authorization", "Bearer "+otherToken)
}

// An unusable file keeps riskdex from starting. The error says which file it is and what
// to do, and contains nothing of the secret.
func TestWhatCannotBeUsedIsAnErrorAtTheStart(t *testing.T) {
	const hidden = "HIDDENHIDDEN"
	missing := filepath.Join(t.TempDir(), "missing")
	for what, c := range map[string]struct {
		cfg  Config
		says string
	}{
		"missing":             {Config{BearerFiles: []string{file(t, token), missing}}, missing},
		"empty":               {Config{HubFiles: []string{file(t, "")}}, "has none"},
		"short token":         {Config{BearerFiles: []string{file(t, token+"\n\n"+hidden)}}, "line 3"},
		"token with a space":  {Config{BearerFiles: []string{file(t, hidden+" "+token)}}, "spaces"},
		"token not ASCII":     {Config{BearerFiles: []string{file(t, hidden+"ü"+token)}}, "ASCII"},
		"no password":         {Config{BasicFiles: []string{file(t, hidden)}}, "user:password"},
		"empty password":      {Config{BasicFiles: []string{file(t, hidden+":")}}, "shorter"},
		"no user":             {Config{BasicFiles: []string{file(t, ":"+hidden)}}, "user:password"},
		"control character":   {Config{BasicFiles: []string{file(t, "anna:"+hidden+"\x00")}}, "control"},
		"key without whsec_":  {Config{WebhookFiles: []string{file(t, hidden+hidden)}}, "whsec_"},
		"key not base64":      {Config{WebhookFiles: []string{file(t, "whsec_"+hidden+"*")}}, "base64"},
		"short key":           {Config{WebhookFiles: []string{file(t, "whsec_"+hidden)}}, "shorter"},
		"empty key":           {Config{WebhookFiles: []string{file(t, "whsec_")}}, "shorter"},
		"short hub key":       {Config{HubFiles: []string{file(t, hidden)}}, "shorter"},
		"no certificate":      {Config{ClientCAFiles: []string{file(t, hidden)}}, "has none"},
		"a private key":       {Config{ClientCAFiles: []string{file(t, "-----BEGIN PRIVATE KEY-----\n"+hidden+"\n-----END PRIVATE KEY-----\n")}}, "PRIVATE KEY"},
		"broken certificate":  {Config{ClientCAFiles: []string{file(t, "-----BEGIN CERTIFICATE-----\n"+hidden+"\n-----END CERTIFICATE-----\n")}}, "certificates"},
		"names of nobody":     {Config{ClientNames: []string{"x"}}, "set both"},
		"no range":            {Config{AllowFrom: []string{"192.0.2"}}, "192.0.2.0/24"},
		"a name":              {Config{AllowFrom: []string{"localhost"}}, "localhost"},
		"everybody":           {Config{AllowFrom: []string{"0.0.0.0/0"}}, "restricts nothing"},
		"everybody in IPv6":   {Config{AllowFrom: []string{"::/0"}}, "restricts nothing"},
		"IPv4 in IPv6":        {Config{AllowFrom: []string{"::ffff:192.0.2.0/120"}}, "spelling"},
		"bits too many":       {Config{AllowFrom: []string{"192.0.2.1/24"}}, "192.0.2.0/24"},
		"proxies only":        {Config{TrustedProxies: []string{"192.0.2.1"}}, "set both"},
		"proxies not a range": {Config{AllowFrom: []string{"192.0.2.1"}, TrustedProxies: []string{"proxy"}}, "proxy"},
	} {
		_, err := New(c.cfg, time.Now, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), hidden) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, want %q in it and no secret", what, err, c.says)
		}
	}
}

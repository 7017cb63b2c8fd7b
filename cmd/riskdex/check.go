package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/follow"
	"riskdex/internal/logsink"
	"riskdex/internal/sanitize"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/receiver"
	"riskdex/report"
)

type checkCommand struct {
	serveCommand
	JSON    bool `name:"json" help:"Print one JSON object."`
	Offline bool `name:"offline" help:"Check only the settings and the files that they name: not Elasticsearch, PostgreSQL or the disk."`
	Strict  bool `name:"strict" help:"Exit with 1 also if something is doubtful."`
}

// level is the severity of a finding.
type level string

const (
	fine     level = "fine"
	doubtful level = "doubtful" // riskdex starts, but somebody should look at this
	wrong    level = "wrong"    // riskdex does not start, or nothing gets to the index
)

// finding is one line of the check.
type finding struct {
	About  string `json:"about"`
	Level  level  `json:"level"`
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"` // empty if Says includes it
}

// checked is what the command prints as JSON.
type checked struct {
	OK     bool      `json:"ok"` // nothing is wrong
	Checks []finding `json:"checks"`
}

// checker collects findings. It checks the settings of serve with the functions that serve
// itself calls.
type checker struct {
	c        *checkCommand
	now      func() time.Time
	known    bool // the journal could be inspected
	findings []finding
}

func (k *checker) note(about string, l level, says, remedy string) {
	k.findings = append(k.findings, finding{about, l, says, remedy})
}

func (k *checker) fine(about, format string, args ...any) {
	k.note(about, fine, fmt.Sprintf(format, args...), "")
}

// failed notes an error, if there is one.
func (k *checker) failed(about string, err error) bool {
	if err != nil {
		for line := range strings.Lines(err.Error()) { // one line per joined error
			k.note(about, wrong, strings.TrimSuffix(line, "\n"), "")
		}
	}
	return err != nil
}

// checkTimeout bounds the whole check.
const checkTimeout = time.Minute

// Run checks. The error is errNegative if something is wrong.
func (c *checkCommand) Run(ctx context.Context, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	k := &checker{c: c, now: time.Now}
	k.run(ctx)
	count := map[level]int{}
	for _, f := range k.findings {
		count[f.Level]++
	}
	var err error
	if c.JSON {
		err = json.NewEncoder(io.out).Encode(checked{count[wrong] == 0, k.findings})
	} else {
		printFindings(io.out, k.findings, count)
	}
	if err == nil && (count[wrong] > 0 || c.Strict && count[doubtful] > 0) {
		err = errNegative
	}
	return err
}

func printFindings(w io.Writer, all []finding, count map[level]int) {
	paint := painter(useColour(w))
	widest := 0
	for _, f := range all {
		widest = max(widest, len(f.About))
	}
	for _, f := range all {
		line := fmt.Sprintf("%-8s  %-*s  %s", f.Level, widest, f.About, sanitize.OneLine(f.Says))
		if f.Level != fine {
			line = paint.text(bold, line)
		}
		fmt.Fprintln(w, line)
		if f.Remedy != "" {
			fmt.Fprintf(w, "%*s%s\n", 8+2+widest+2, "", sanitize.OneLine(f.Remedy))
		}
	}
	fmt.Fprintf(w, "%d fine, %d doubtful, %d wrong\n", count[fine], count[doubtful], count[wrong])
}

func (k *checker) run(ctx context.Context) {
	usable := k.settings()
	k.certificates()
	k.secrets()
	k.machine()
	if k.c.Offline {
		return
	}
	found := k.journal(ctx)
	k.followed(ctx, found)
	if usable {
		k.elasticsearch(ctx, found)
	}
}

// settings makes of the settings what serve does, as far as that needs no other system. It
// reports whether Elasticsearch can be asked.
func (k *checker) settings() (usable bool) {
	log := slog.New(&warnings{k: k, about: "settings"})
	_, err := k.c.mappings()
	mapped := !k.failed("mappings", err)
	if mapped {
		k.fine("mappings", "%s", cmp.Or(k.c.Mappings, "the built-in mappings"))
	}
	cfg, err := k.c.config()
	if err == nil {
		_, err = receiver.New(cfg, nil, k.now, prometheus.NewRegistry(), log)
	}
	readable := !k.failed("deliveries", err)
	authenticator, err := k.c.authenticator(nil, log)
	guarded := !k.failed("deliveries", err)
	_, err = k.c.client()
	usable = !k.failed("elasticsearch", err) && mapped
	k.c.journalOptions(log)
	for _, name := range slices.Sorted(maps.Keys(k.c.Expect.expected)) {
		if _, err := report.ParseKind(name); err != nil && name != "" {
			k.note("expect-every", doubtful, fmt.Sprintf("%s is not a kind, so it stands for the sender of that name", name),
				"Kinds are cities, advisories, special-reports. Senders are named as riskdex status names them.")
		}
	}
	if postgres.IsURL(k.c.Journal) {
		k.failed("journal", refusePassword(k.c.Journal))
	}
	if readable && guarded && usable {
		// What no step above has tried, such as the indexer.
		_, err := newComponents(&k.c.serveCommand, nil, func(func(float64)) (journal.Journal, error) { return emptyJournal{}, nil }, slog.New(slog.DiscardHandler), new(logsink.Sink), nil)
		if k.failed("settings", err) {
			return false
		}
		k.fine("settings", "serve accepts all of them")
	}
	_, err = k.c.securedDeliveries(nil, log)
	if !k.failed("deliveries", err) {
		k.certificate("deliveries", k.c.TLS.Certificate)
		if guarded {
			k.listener("deliveries", k.c.Listen, func(a net.Addr) error { return k.c.guardDeliveries(authenticator, a) },
				authenticator.Required(), k.c.TLS.Certificate != "")
		}
	}
	_, err = k.c.AdminTLS.config(nil, "administration", k.now, log)
	_, tokens := k.c.allow(nil, log)
	if !k.failed("administration", errors.Join(err, tokens)) {
		k.certificate("administration", k.c.AdminTLS.Certificate)
		k.listener("administration", k.c.AdminListen, k.c.guardAdmin, len(k.c.AdminTokens) > 0, k.c.AdminTLS.Certificate != "")
	}
	return usable
}

// listener checks an address without listening there. asked says that callers have to
// authenticate, secured that the listener speaks TLS.
func (k *checker) listener(about, address string, guard func(net.Addr) error, asked, secured bool) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		k.note(about, wrong, fmt.Sprintf("%s is not an address to listen on: %v", address, err), "Write it like 127.0.0.1:8080, or :8080 for all addresses of this machine.")
		return
	}
	if k.failed(about, guard(resolved)) {
		return
	}
	has, err := net.InterfaceAddrs()
	ours := func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(resolved.IP)
	}
	switch anywhere := len(resolved.IP) == 0 || resolved.IP.IsUnspecified(); {
	case err == nil && !anywhere && !resolved.IP.IsLoopback() && !slices.ContainsFunc(has, ours):
		k.note(about, doubtful, fmt.Sprintf("%s is not an address of this machine", address), "Listen on one of its addresses, or on all of them with :"+fmt.Sprint(resolved.Port)+".")
	case !secured && !resolved.IP.IsLoopback() && asked:
		k.note(about, doubtful, fmt.Sprintf("%s: credentials are sent to it over plain HTTP", address), "Give it a certificate, unless a proxy in front of it speaks TLS, or the network is trusted.")
	case !resolved.IP.IsLoopback() && !asked:
		k.note(about, doubtful, fmt.Sprintf("%s is open to whoever can reach it, as --insecure-open says", address), "Require authentication, such as a token.")
	case !asked:
		k.fine(about, "%s, open to everybody on this machine", address)
	default:
		k.fine(about, "%s", address)
	}
}

// expiresSoon is how long a certificate must remain valid not to be doubtful.
const expiresSoon = 14 * 24 * time.Hour

// certificates checks the certificates other than those of the listeners. Those are checked
// with their listeners, which do not start if they have expired.
func (k *checker) certificates() {
	k.certificate("elasticsearch", k.c.SignIn.CertificateFile)
	k.certificate("elasticsearch", k.c.SignIn.CAFile)
	for _, file := range k.c.ClientCA {
		k.certificate("deliveries", file)
	}
}

// certificate notes until when the certificates in a file are valid. Files that cannot be
// used have been noted before.
func (k *checker) certificate(about, file string) {
	text, err := os.ReadFile(file)
	if file == "" || err != nil {
		return
	}
	var first *x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && (first == nil || c.NotAfter.Before(first.NotAfter)) {
			first = c
		}
	}
	if first != nil {
		k.expiry(about, "the certificate in "+file, first)
	}
}

func (k *checker) expiry(about, what string, c *x509.Certificate) {
	until := c.NotAfter.UTC().Format(time.DateOnly)
	switch left := c.NotAfter.Sub(k.now()); {
	case k.now().Before(c.NotBefore):
		k.note(about, wrong, fmt.Sprintf("%s is not valid before %s", what, c.NotBefore.UTC().Format(time.DateTime)), "Check this machine's clock, or wait.")
	case left < 0:
		k.note(about, wrong, fmt.Sprintf("%s expired on %s", what, until), "Replace it.")
	case left < expiresSoon:
		k.note(about, doubtful, fmt.Sprintf("%s expires on %s", what, until), "Replace it; a running riskdex picks up its own without a restart.")
	default:
		k.fine(about, "%s is valid until %s", what, until)
	}
}

// secrets checks who else may read the files with secrets. Files that riskdex cannot read
// have been noted before.
func (k *checker) secrets() {
	files := slices.Concat(k.c.Bearer, k.c.Basic, k.c.Webhook, k.c.Hub, k.c.AdminTokens, k.c.FollowTokenFiles,
		[]string{k.c.TLS.Key, k.c.AdminTLS.Key, k.c.SignIn.APIKeyFile, k.c.SignIn.PasswordFile, k.c.SignIn.KeyFile})
	good := 0
	for _, file := range files {
		info, err := os.Stat(file)
		if file == "" || err != nil {
			continue
		}
		if may := othersMay(info.Mode()); may != "" {
			k.note("secrets", doubtful, fmt.Sprintf("every user of this machine may %s %s (%v)", may, file, info.Mode().Perm()), "chmod o-rwx "+sanitize.ShellWord(file))
			continue
		}
		good++
	}
	if good > 0 {
		k.fine("secrets", "%s by nobody but owner and group", count(good, "file with secrets, readable", "files with secrets, readable"))
	}
}

// othersMay returns what users other than the owner and the group may do with a file, or an
// empty string if nothing.
func othersMay(m os.FileMode) string {
	switch m.Perm() & 0o006 {
	case 0o006:
		return "read and change"
	case 0o004:
		return "read"
	case 0o002:
		return "change"
	}
	return ""
}

// journal inspects the journal without opening it for use.
func (k *checker) journal(ctx context.Context) (found journal.Inspection) {
	if postgres.IsURL(k.c.Journal) && hasPassword(k.c.Journal) {
		return found // settings has noted this
	}
	found, err := inspectNamed(ctx, k.c.Journal, slog.New(&warnings{k: k, about: "journal"}))
	where := redacted(k.c.Journal)
	if !postgres.IsURL(k.c.Journal) {
		where = k.c.Journal
		k.disk(found)
	}
	k.known = err == nil
	switch {
	case err != nil:
		remedy := ""
		if postgres.IsURL(k.c.Journal) {
			remedy = "Start PostgreSQL, or correct --journal, the password (PGPASSWORD or PGPASSFILE) or the network in between."
		}
		k.note("journal", wrong, fmt.Sprintf("%s: %s", where, onceEach(err)), remedy)
	case !found.Exists:
		k.fine("journal", "%s does not exist yet; serve creates it", where)
	case found.InUse:
		k.fine("journal", "%s exists%s, in use by a running riskdex", where, sized(found))
	case found.Unfinished:
		k.note("journal", doubtful, fmt.Sprintf("%s%s was not closed by the riskdex that used it last", where, sized(found)),
			"Serve replays its write-ahead log at the start. Move or copy it only together with that (-wal), or with riskdex backup.")
	default:
		k.fine("journal", "%s exists%s", where, sized(found))
	}
	return found
}

// followed asks the riskdex that is to be followed.
func (k *checker) followed(ctx context.Context, found journal.Inspection) {
	if k.c.Follow == "" {
		return
	}
	source, err := k.c.followSettings.followed()
	if err != nil {
		return // settings has noted it
	}
	if err := follow.Check(ctx, source, found.Line, found.Followed); err != nil {
		k.note("follow", wrong, fmt.Sprintf("%s: %v", redacted(source.base), err), "")
		return
	}
	k.fine("follow", "%s can be followed", redacted(source.base))
}

// onceEach joins the distinct lines of an error: PostgreSQL's driver tries each address with
// TLS and without it, and often reports the same error for both.
func onceEach(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

func sized(found journal.Inspection) string {
	if found.Server != "" {
		return ", PostgreSQL " + found.Server
	}
	return ", " + humanize.IBytes(uint64(found.Bytes))
}

// disk checks the disk and the file system of a journal in a file.
func (k *checker) disk(found journal.Inspection) {
	least := uint64(journal.DefaultMinFree)
	if k.c.MinFree != nil {
		least = uint64(max(0, *k.c.MinFree))
	}
	kind := ""
	if found.FileSystem != "" {
		kind = " (" + found.FileSystem + ")"
	}
	switch free := uint64(max(0, found.Free)); {
	case found.Folder == "" || found.Free < 0:
	case free < least:
		k.note("disk", wrong, fmt.Sprintf("%s%s has %s left, and deliveries need %s", found.Folder, kind, humanize.IBytes(free), humanize.IBytes(least)), "Make room, or put the journal on another disk.")
	case free < 4*least:
		k.note("disk", doubtful, fmt.Sprintf("%s%s has %s left, and deliveries are turned away below %s", found.Folder, kind, humanize.IBytes(free), humanize.IBytes(least)), "Make room, or put the journal on another disk.")
	default:
		k.fine("disk", "%s%s has %s left", found.Folder, kind, humanize.IBytes(free))
	}
	switch found.FileSystem {
	case "tmpfs", "ramfs":
		k.note("disk", doubtful, found.Folder+" is in memory: what was acknowledged is lost with the machine", "Put the journal on a disk.")
	case "overlay":
		k.note("disk", doubtful, found.Folder+" is in the container's own layer: the journal goes with the container", "Put it on a volume.")
	case "nfs", "smb", "cifs":
		k.note("disk", doubtful, found.Folder+" is on the network, where SQLite's locks and syncs may not hold", "Put it on a disk of this machine, or use PostgreSQL.")
	}
}

// warnings is a slog.Handler that turns what serve would log as a warning, or worse, into
// findings.
type warnings struct {
	k     *checker
	about string
	more  []slog.Attr
}

// Enabled implements slog.Handler.
func (h *warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (h *warnings) Handle(_ context.Context, r slog.Record) error {
	says := r.Message
	add := func(a slog.Attr) bool { says += fmt.Sprintf("; %s %s", a.Key, a.Value); return true }
	for _, a := range h.more {
		add(a)
	}
	r.Attrs(add)
	h.k.note(h.about, doubtful, says, "")
	return nil
}

// WithAttrs implements slog.Handler.
func (h *warnings) WithAttrs(more []slog.Attr) slog.Handler {
	return &warnings{h.k, h.about, slices.Concat(h.more, more)}
}

// WithGroup implements slog.Handler.
func (h *warnings) WithGroup(string) slog.Handler { return h }

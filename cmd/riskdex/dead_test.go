package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestDeadLetterCommands makes Elasticsearch refuse documents, and handles them as an
// operator would.
func TestDeadLetterCommands(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--mappings", narrowMappings(t))
	p.start()
	const hostile = "a/b \x1b[31m'"
	p.send("POST", "/cities", `[{"id":1,"title":"well"},{"id":2,"title":"poison","risk_label":"high"},{"id":"a/b \u001b[31m'","risk_label":"low"}]`)
	p.send("PUT", "/advisories/3", `{"title":"poison \u202e","risk_label":"high"}`)
	p.drained()

	list := p.expect(exitDone, "", words("dead list"), "3 dead letters", "document_parsing_exception", "risk_label", "SINCE", `$'a/b \u001b[31m\''`)
	if strings.Contains(list.out, "\x1b") {
		t.Errorf("a control character or a colour in %q", list.out)
	}
	p.expect(exitDone, "", words("dead list --kind cities"), "2 dead letters")
	p.expect(exitDone, "", words("dead list --type another"), "0 dead letters")
	var ids []string
	for line := range strings.Lines(p.expect(exitDone, "", words("dead list --json")).out) {
		var l admin.DeadLetter
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		ids = append(ids, string(l.Kind)+"/"+string(l.ID))
	}
	if got := strings.Join(ids, " "); got != "cities/2 cities/"+hostile+" advisories/3" {
		t.Errorf("listed as JSON: %q", got)
	}

	shown := p.expect(exitDone, "", []string{"dead", "show", "cities", hostile}, "document_parsing_exception", "--version", "dead retry", `"risk_label":"low"`)
	if strings.Contains(shown.out, "\x1b") {
		t.Errorf("a control character in %q", shown.out)
	}
	if got := p.expect(exitDone, "", words("dead show advisories 3 --body")).out; got != `{"title":"poison \u202e","risk_label":"high"}` {
		t.Errorf("--body prints %q", got)
	}
	var letter admin.DeadLetter
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", words("dead show cities 2 --json")).out), &letter))
	p.expect(exitNegative, "", words("dead show cities 1"), "not there")

	// Retried as it is, it is refused again.
	p.expect(exitDone, "", words("dead retry cities 2"), "1 accepted")
	p.drained()
	p.expect(exitDone, "", words("dead list --kind cities"), "2 dead letters")
	// Retried with an edited body, it is found.
	file := filepath.Join(t.TempDir(), "fixed.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"id":2,"title":"antidote","risk_label":7}`), 0o644))
	p.expect(exitNegative, `{"id":2,`, words("dead retry cities 2 --body -"), "in the middle of a JSON value")
	p.expect(exitFailed, " ", words("dead retry cities 2 --body -"), "empty")
	p.expect(exitNegative, "", words(fmt.Sprintf("dead retry cities 2 --version %d --body %s", letter.Version, file)), "newer delivery")
	p.expect(exitDone, "", words("dead retry cities 2 --body "+file), "as version")
	p.drained()
	p.indexed(report.Cities)
	if hits := p.search("antidote"); len(hits) != 1 || hits[0] != "cities/2" {
		t.Errorf("the edited document is found as %v", hits)
	}
	p.expect(exitNegative, "", words("dead retry cities 2"), "not there")

	// A newer delivery clears one, and a retry after that changes nothing.
	p.send("PUT", "/advisories/3", `{"title":"newer"}`)
	p.expect(exitNegative, `{"title":"older, edited"}`, words("dead retry advisories 3 --body -"), "newer delivery")
	p.drained()
	p.expect(exitNegative, `{"title":"older, edited"}`, words("dead retry advisories 3 --body -"), "not there")
	p.drained()
	if found := p.indexed(report.Advisories); string(found["3"]) != `{"title":"newer"}` {
		t.Errorf("the index has %s", found["3"])
	}

	p.expect(exitFailed, "y\n", words("dead drop --all"), "--yes") // without a terminal, nobody can be asked
	p.expect(exitDone, "", []string{"dead", "drop", "cities", hostile}, "1 dropped")
	p.expect(exitDone, "", words("dead list"), "0 dead letters")
	p.expect(exitNegative, "", words("dead retry --all"), "nothing to do")
	p.expect(exitNegative, "", words("dead drop --all --yes"), "nothing to do")
	p.send("PUT", "/cities/4", `{"risk_label":"high"}`)
	p.drained()
	p.expect(exitDone, "", words("dead retry --all --kind cities"), "1 accepted")
	p.drained()
	p.expect(exitDone, "", words("dead drop --all --kind cities --type document_parsing_exception --yes"), "1 dropped")
	p.drained()
}

func TestCommandsThatCannotBe(t *testing.T) {
	nobody := "--admin=http://127.0.0.1:1"
	for args, want := range map[string]string{
		"dead list " + nobody:                               "riskdex serve",
		"refused list " + nobody:                            "RISKDEX_ADMIN_URL",
		"rebuild " + nobody:                                 "riskdex serve",
		"verify " + nobody:                                  "riskdex serve",
		"dead list --admin nowhere":                         "http://",
		"dead show countries 1":                             "countries",
		"dead retry":                                        "--all",
		"dead retry cities":                                 "--all",
		"dead retry cities 1 --all":                         "cannot be combined",
		"dead retry cities 1 --kind cities":                 "--all",
		"dead retry --all --body x":                         "--body",
		"dead retry cities 1 --body /not/there":             "/not/there",
		"dead show cities 1 --json --body":                  "--json",
		"refused retry":                                     "--all",
		"refused retry x":                                   "x",
		"refused retry 1 --all":                             "cannot be combined",
		"refused drop --reason x":                           "--all",
		"rebuild --stop --detach":                           "--stop",
		"verify --remove-foreign":                           "--repair",
		"backup " + t.TempDir() + "/x --journal /not/there": "/not/there",
	} {
		p := process{t: t, admin: "127.0.0.1:1"}
		got := p.command("", strings.Fields(args)...)
		if got.status != exitFailed || !strings.Contains(got.errs, want) {
			t.Errorf("%s: exit status %d, output %q, want %q", args, got.status, got.errs, want)
		}
	}
}

// TestAdminURLOfSomethingElse uses the URL of Elasticsearch.
func TestAdminURLOfSomethingElse(t *testing.T) {
	p := process{t: t, admin: strings.TrimPrefix(elastictest.URL(t), "http://")}
	p.expect(exitFailed, "", words("dead list"), "not riskdex's admin listener")
}

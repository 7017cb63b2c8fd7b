package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
)

// said is the output of a command, and its exit status.
type said struct {
	status    int
	out, errs string
}

// running is a command that has not ended yet.
type running struct {
	cmd       *exec.Cmd
	out, errs logtest.Buffer
}

// begin starts a command in a process of its own, against this riskdex.
func (p *process) begin(args ...string) *running { return p.beginReading("", args...) }

func (p *process) beginReading(stdin string, args ...string) *running {
	p.t.Helper()
	r := &running{cmd: exec.CommandContext(p.t.Context(), os.Args[0], args...)}
	r.cmd.Env = p.environ("RISKDEX_ADMIN_URL=http://" + p.admin)
	r.cmd.Stdin = strings.NewReader(stdin)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	require.NoError(p.t, r.cmd.Start())
	return r
}

func (r *running) wait() said {
	_ = r.cmd.Wait() // the status says how it ended
	return said{r.cmd.ProcessState.ExitCode(), r.out.String(), r.errs.String()}
}

// command runs a command to its end. stdin is what it reads.
func (p *process) command(stdin string, args ...string) said {
	p.t.Helper()
	return p.beginReading(stdin, args...).wait()
}

// expect runs a command, and checks its exit status and that its output contains all of the
// texts.
func (p *process) expect(status int, stdin string, args []string, texts ...string) said {
	p.t.Helper()
	got := p.command(stdin, args...)
	if got.status != status {
		p.t.Errorf("%s: exit status %d, want %d; output %q %q", strings.Join(args, " "), got.status, status, got.out, got.errs)
	}
	for _, text := range texts {
		if !strings.Contains(got.out+got.errs, text) {
			p.t.Errorf("%s: the output lacks %q: %q %q", strings.Join(args, " "), text, got.out, got.errs)
		}
	}
	return got
}

func words(text string) []string { return strings.Fields(text) }

// plainMappings returns a folder of mappings of which Elasticsearch makes indices with little work.
func plainMappings(t *testing.T) string { return mappingsWith(t, indexertest.PlainIndex(t)) }

// narrowMappings returns such a folder with which Elasticsearch refuses documents whose risk_label is no
// number.
func narrowMappings(t *testing.T) string { return mappingsWithLabel(t, `{"type":"integer"}`) }

// mappingsWithLabel returns such a folder in which the field risk_label is another one.
func mappingsWithLabel(t *testing.T, field string) string {
	t.Helper()
	const usual = `"risk_label":{"ignore_above":256,"normalizer":"any_case","type":"keyword"}`
	text := indexertest.PlainIndex(t)
	if !strings.Contains(text, usual) {
		t.Fatalf("index.json has no %s any longer: take another field", usual)
	}
	return mappingsWith(t, strings.Replace(text, usual, `"risk_label":`+field, 1))
}

// mappingsWith returns a folder of the built-in mappings with another index.json.
func mappingsWith(t *testing.T, index string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mappings")
	require.NoError(t, os.CopyFS(dir, mappings.Files()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o600))
	return dir
}

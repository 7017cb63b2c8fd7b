package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"slices"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stderr = "../../../..", t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

// listed builds riskdex and returns its list, as a file.
func listed(t *testing.T) (program, file string) {
	t.Helper()
	needs.FullRun(t, "a build of riskdex")
	dir := t.TempDir()
	program, file = filepath.Join(dir, "riskdex"), filepath.Join(dir, "riskdex.cdx.json")
	run(t, "go", "build", "-o", program, "./cmd/riskdex")
	require.NoError(t, write(program, file))
	return program, file
}

// The list has exactly what go version -m finds in the program.
func TestTheListIsWhatIsInTheProgram(t *testing.T) {
	program, file := listed(t)
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)\th1:`).FindAllStringSubmatch(run(t, "go", "version", "-m", program), -1) {
		want = append(want, fmt.Sprintf("pkg:golang/%s@%s", m[1], m[2]))
	}
	if len(want) < 10 {
		t.Fatalf("the program has %d modules only", len(want))
	}
	want = append(want, "pkg:golang/std@v"+strings.TrimPrefix(strings.Fields(run(t, "go", "env", "GOVERSION"))[0], "go"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var bom cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	var got []string
	for _, c := range *bom.Components {
		address, err := url.QueryUnescape(c.PackageURL)
		require.NoError(t, err)
		got = append(got, address)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the list has\n%q, the program\n%q", got, want)
	}
	if bom.Metadata.Component.Name != "riskdex" {
		t.Errorf("it is the list of %q", bom.Metadata.Component.Name)
	}
	again := filepath.Join(t.TempDir(), "again.json")
	require.NoError(t, write(program, again))
	if twice, err := os.ReadFile(again); err != nil || !bytes.Equal(twice, text) {
		t.Errorf("a second list of the same program differs: %v", err)
	}
}

// The schema is the one that CycloneDX publishes; it comes with the library's tests.
func TestTheListIsValid(t *testing.T) {
	_, file := listed(t)
	home := filepath.Join(strings.TrimSpace(run(t, "go", "-C", "internal/tools/manifests", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")), "schema")
	compiler := jsonschema.NewCompiler()
	for url, name := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		require.NoError(t, compiler.AddResource(url, parsed(t, filepath.Join(home, name))))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	if err := schema.Validate(parsed(t, file)); err != nil {
		t.Errorf("the list is not valid: %v", err)
	}
	wrong := parsed(t, file).(map[string]any)
	wrong["components"].([]any)[0].(map[string]any)["type"] = "something"
	if schema.Validate(wrong) == nil {
		t.Error("the schema accepts an invalid list")
	}
}

func parsed(t *testing.T, file string) any {
	t.Helper()
	text, err := os.Open(file)
	require.NoError(t, err)
	defer text.Close()
	value, err := jsonschema.UnmarshalJSON(text)
	require.NoError(t, err)
	return value
}

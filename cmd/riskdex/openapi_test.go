package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/openapitest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

const (
	deliveriesDescription     = "../../receiver/openapi.yaml"
	administrationDescription = "../../admin/openapi.yaml"
	searchesDescription       = "../../search/searchapi/openapi.yaml"
)

// openapiTool returns the path of a Python program that requirements.txt of
// openapitest installs. RISKDEX_TEST_PYTHON names the interpreter beside it.
func openapiTool(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(filepath.Dir(needs.Python(t, "internal/testkit/openapitest/requirements.txt")), name)
}

// runTool runs a program, and fails the test if the program fails.
func runTool(t *testing.T, program string, args ...string) {
	t.Helper()
	// A generous bound, not a measure of speed.
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir()       // it may leave files behind
	cmd.WaitDelay = time.Second // its children may keep its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

func TestDescriptionsAreOpenAPI(t *testing.T) {
	tool := openapiTool(t, "openapi-spec-validator")
	runTool(t, tool, "--schema", "3.1", absolute(t, deliveriesDescription), absolute(t, administrationDescription), absolute(t, searchesDescription))
}

// TestClientsAreGenerated has generators that many use make clients of the three descriptions, in
// TypeScript and in Python, with a function for each call. The compiler of each language reads them.
func TestClientsAreGenerated(t *testing.T) {
	python := openapiTool(t, "python")
	modules := needs.NodeModules(t, "testdata/generators")
	node := needs.Program(t, "node", "apt-get install -y --no-install-recommends nodejs")
	bare := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	for _, description := range []string{deliveriesDescription, administrationDescription, searchesDescription} {
		t.Run(filepath.Base(filepath.Dir(description)), func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, item := range openapitest.Read(t, description).Paths {
				for method, operation := range item {
					if operation, ok := operation.(map[string]any); ok && method != "parameters" {
						name, _ := operation["operationId"].(string)
						want = append(want, bare(name))
					}
				}
			}
			folder := t.TempDir()
			pythonic, typed := filepath.Join(folder, "python"), filepath.Join(folder, "typed")
			runTool(t, openapiTool(t, "openapi-python-client"), "generate", "--path", absolute(t, description), "--output-path", pythonic, "--meta", "none")
			runTool(t, python, "-m", "compileall", "-q", pythonic)
			files, err := filepath.Glob(filepath.Join(pythonic, "api", "*", "[a-z]*.py"))
			require.NoError(t, err)
			var got []string
			for _, file := range files {
				got = append(got, bare(strings.TrimSuffix(filepath.Base(file), ".py")))
			}
			expectCalls(t, "Python", got, want)

			runTool(t, node, filepath.Join(modules, "@hey-api", "openapi-ts", "bin", "run.js"), "-i", absolute(t, description), "-o", typed, "-c", "@hey-api/client-fetch")
			read := filepath.Join(typed, "index.ts")
			if description == searchesDescription { // the types of the package in examples are the same
				read = filepath.Join(folder, "same.ts")
				require.NoError(t, os.WriteFile(read, []byte(`import type * as made from "./typed/index.js";
import type * as given from "`+absolute(t, "../../examples/search-api/riskdex.js")+`";
type Same<A, B> = [A, Required<A>] extends [B, Required<B>] ? [B, Required<B>] extends [A, Required<A>] ? true : false : false;
type Levels<T> = Omit<T, "risk_level">; // which numbers is said as a range
const same: [Same<made.Suggestion, given.Suggestion>, Same<Levels<made.Hit>, Levels<given.Hit>>, Same<made.Place, given.Place>,
  Same<keyof made.Found, keyof given.Found>, Same<Levels<made.Document>, Levels<given.Report>>] = [true, true, true, true, true];
export default same;
`), 0o600))
			}
			runTool(t, node, filepath.Join(modules, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable",
				"--module", "esnext", "--moduleResolution", "bundler", read)
			calls, err := os.ReadFile(filepath.Join(typed, "sdk.gen.ts"))
			require.NoError(t, err)
			got = nil
			for line := range strings.SplitSeq(string(calls), "\n") {
				if name, is := strings.CutPrefix(line, "export const "); is {
					name, _, _ = strings.Cut(name, " ")
					got = append(got, bare(name))
				}
			}
			expectCalls(t, "TypeScript", got, want)
		})
	}
}

// expectCalls compares the functions of a client with the calls of its description. One without an
// operationId is called after its path.
func expectCalls(t *testing.T, language string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("in %s there are %d of %d calls: %q of %q", language, len(got), len(want), got, want)
	}
	for _, name := range want {
		if name != "" && !slices.Contains(got, name) {
			t.Errorf("in %s there is no %s", language, name)
		}
	}
}

// runSchemathesis makes valid and invalid calls of a running riskdex according to a
// description. Every answer must be one that the description has. The seed is fixed, so
// that failures can be reproduced.
func runSchemathesis(t *testing.T, description, url string, more ...string) {
	t.Helper()
	runTool(t, openapiTool(t, "schemathesis"), append([]string{
		"run", absolute(t, description), "--url", url, "--seed", "1", "--max-examples", "25",
		"--phases", "examples,coverage,fuzzing", "--checks", "not_a_server_error,status_code_conformance," +
			"content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection," +
			"missing_required_header,unsupported_method,allow_header_conformance",
		"--generation-database", "none", "--continue-on-failure", "--no-color",
	}, more...)...)
}

// TestDescriptionsAreTrue compares the descriptions with a whole riskdex that has something of
// everything.
func TestDescriptionsAreTrue(t *testing.T) {
	openapiTool(t, "schemathesis")
	bearer := filepath.Join(t.TempDir(), "bearer")
	require.NoError(t, os.WriteFile(bearer, []byte("a-token-of-the-publisher\n"), 0o600))
	p := newProcess(t, elastictest.URL(t), "--mappings", narrowMappings(t), "--bearer-file", bearer)
	p.start()
	deliver := func(method, path, body string, want int) {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+p.deliveries+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer a-token-of-the-publisher")
		res, err := p.sender.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != want {
			t.Fatalf("%s %s: %d, want %d", method, path, res.StatusCode, want)
		}
	}
	deliver("POST", "/advisories", `{`, http.StatusBadRequest) // the refusal with the number 1
	runSchemathesis(t, deliveriesDescription, "http://"+p.deliveries, "--header", "Authorization: Bearer a-token-of-the-publisher")
	runSchemathesis(t, deliveriesDescription, "http://"+p.deliveries) // without credentials

	deliver("PUT", "/cities/130", `{"risk_label":"low"}`, http.StatusAccepted) // Elasticsearch refuses it
	p.drained()
	for _, example := range []string{"/api/dead/letter?kind=cities&id=130", "/api/refused/delivery?number=1"} {
		res, err := http.Get("http://" + p.admin + example)
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("the example of the description does not exist: %s is answered %d", example, res.StatusCode)
		}
	}
	// Not the calls for profiles, which may take long, and for backups, which write files
	// anywhere.
	runSchemathesis(t, administrationDescription, "http://"+p.admin, "--exclude-operation-id", "profile", "--exclude-operation-id", "backUp")
}

// TestDescriptionsOfSearchesAreTrue does so with a search API that has something to find.
func TestDescriptionsOfSearchesAreTrue(t *testing.T) {
	openapiTool(t, "schemathesis")
	p := newProcess(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"code":"SYD","title":"Sydney","country":"AU","risk_level":2,"geo":{"lat":-33.87,"lng":151.21},"updated_at":"2026-05-01"}]`)
	p.drained()
	p.indexed(report.Cities)
	runSchemathesis(t, searchesDescription, p.searchAPI(p.elasticsearch, "--timeout", "1m").url)
}

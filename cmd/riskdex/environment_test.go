package main

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"riskdex/internal/testkit/require"
)

// TestEmptyVariablesAreNotSet: with every variable set to an empty text, every command gets
// the same settings as without any variable.
func TestEmptyVariablesAreNotSet(t *testing.T) {
	parse := func(args ...string) commands {
		var cli commands
		parser, err := newParser(&cli)
		require.NoError(t, err)
		if _, err := parser.Parse(args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return cli
	}
	variables := variablesOf(t)
	if len(variables) < 40 || !slices.Contains(variables, "RISKDEX_MAPPINGS") || !slices.Contains(variables, "RISKDEX_ADMIN_URL") {
		t.Fatalf("the list of variables is incomplete: %q", variables)
	}
	for _, command := range []string{"serve", "search x", "status", "dead list", "rebuild", "backup copy", "mappings check", "push", "metrics", "healthy"} {
		t.Run(command, func(t *testing.T) {
			for _, name := range variables {
				t.Setenv(name, "") // restores the variable after the test
			}
			empty := parse(words(command)...)
			for _, name := range variables {
				require.NoError(t, os.Unsetenv(name))
			}
			if without := parse(words(command)...); !reflect.DeepEqual(empty, without) {
				t.Errorf("empty variables: %+v, none: %+v", empty, without)
			}
		})
	}
	var out bytes.Buffer
	t.Setenv("RISKDEX_MAPPINGS", "")
	t.Setenv("RISKDEX_MAX_BODY", "")
	for command, says := range map[string]string{"metrics": "riskdex_lag_seconds", "search x --elasticsearch-url http://127.0.0.1:1": "is Elasticsearch at"} {
		if run(t.Context(), words(command), streams{&out, &out}); !strings.Contains(out.String(), says) {
			t.Errorf("%s: the output is %s", command, out.String())
		}
		out.Reset()
	}
	t.Setenv("RISKDEX_WORKERS", "7")
	if got := parse("serve").Serve.Workers; got != 7 {
		t.Errorf("a variable with the value 7 is read as %d", got)
	}
}

// variablesOf returns the variables of all flags of all commands.
func variablesOf(t *testing.T) (names []string) {
	t.Helper()
	parser, err := newParser(&commands{})
	require.NoError(t, err)
	require.NoError(t, kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	}))
	slices.Sort(names)
	return slices.Compact(names)
}

// TestUnknownVariables: a misspelled setting is an error in every command, which says which
// one was meant. Variables that others set in the environment are not.
func TestUnknownVariables(t *testing.T) {
	tests := []struct{ name, value, nearest string }{
		{"RISKDEX_BEARRER_FILE", "/nope", "RISKDEX_BEARER_FILE"},
		{"RISKDEX_BEARER", "/nope", "RISKDEX_BEARER_FILE"},
		{"RISKDEX_JOURNAL_MAX_BYTE", "1GiB", "RISKDEX_JOURNAL_MAX_BYTES"},
		{"RISKDEX_PORT", "8080", "RISKDEX_"}, // not a link to a service
		{"RISKDEX_WORKERS", "4", ""},
		{"RISKDEX_BEARRER_FILE", "", ""}, // empty is unset
		{"RISKDEXX", "1", ""},
		{"RISKDEX_SERVICE_HOST", "10.0.0.1", ""},
		{"RISKDEX_SERVICE_PORT_HTTP", "8080", ""},
		{"RISKDEX_ADMIN_PORT_8081_TCP_ADDR", "10.0.0.1", ""},
		{"RISKDEX_ADMIN_PORT", "tcp://10.0.0.1:8081", ""},
	}
	for _, test := range tests {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Setenv(test.name, test.value)
			for _, command := range []string{"version", "metrics"} {
				var out, errs bytes.Buffer
				status := run(t.Context(), words(command), streams{&out, &errs})
				if test.nearest == "" {
					if status != exitDone {
						t.Errorf("%s: status %d: %s", command, status, errs.String())
					}
					continue
				}
				if status != exitFailed || !strings.Contains(errs.String(), test.name+" ") || !strings.Contains(errs.String(), "did you mean "+test.nearest) {
					t.Errorf("%s: status %d, output %q", command, status, errs.String())
				}
			}
		})
	}
}

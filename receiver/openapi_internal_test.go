package receiver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riskdex/internal/testkit/openapitest"
	"riskdex/receiver/auth"
	"riskdex/report"
)

func TestDescriptionHasEveryCall(t *testing.T) {
	d := openapitest.Read(t, "openapi.yaml")
	kinds := d.Components.Parameters["Kind"].Schema.Enum
	want, got := openapitest.Routes(new(Receiver).routes()), d.Operations(map[string][]string{"kind": kinds})
	if !slices.Equal(got, want) || len(want) != 3*len(report.Kinds()) {
		t.Errorf("openapi.yaml describes\n%q, there are\n%q", got, want)
	}
}

func TestDescriptionHasEveryMember(t *testing.T) {
	d := openapitest.Read(t, "openapi.yaml")
	for name, value := range map[string]any{"Accepted": accepted{}, "Refused": refused{}, "Problem": problem{}} {
		d.Components.Schemas[name].Compare(t, name, reflect.TypeOf(value))
	}
}

func TestDescriptionHasEveryReason(t *testing.T) {
	want := slices.DeleteFunc(reasonConstants(t), func(reason string) bool { return reason == reasonCut || reason == reasonPlaceForgotten }) // only for retries
	want = append(want, auth.Reasons()...)
	got := slices.Clone(openapitest.Read(t, "openapi.yaml").Components.Schemas["Reason"].Enum)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 20 {
		t.Errorf("openapi.yaml has the reasons\n%q, there are\n%q", got, want)
	}
}

// reasonConstants returns the values of the package's constants for reasons, and checks
// that no answer has another one.
func reasonConstants(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if literal, ok := valueAt(n.Values, i).(*ast.BasicLit); ok && strings.HasPrefix(id.Name, "reason") {
						value, err := strconv.Unquote(literal.Value)
						if err != nil {
							t.Fatal(err)
						}
						all = append(all, value)
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "newProblem" {
					if literal, ok := n.Args[1].(*ast.BasicLit); ok {
						t.Errorf("%s: the reason %s of an answer is not a constant", name, literal.Value)
					}
				}
			}
			return true
		})
	}
	return all
}

func valueAt(values []ast.Expr, i int) ast.Expr {
	if i < len(values) {
		return values[i]
	}
	return nil
}

package admin_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/openapitest"
	"riskdex/internal/testkit/require"
)

// TestDescriptionHasEveryName makes each call of the API with each query parameter of any
// call. A call must accept exactly the parameters that the description has for it.
func TestDescriptionHasEveryName(t *testing.T) {
	calls := openapitest.Read(t, "openapi.yaml").Queries()
	d := openStatusDesk(t)
	var names []string
	for _, of := range calls {
		names = append(names, of...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	asked := 0
	for call, known := range calls {
		method, path, _ := strings.Cut(call, " ")
		if !strings.HasPrefix(path, "/api/") {
			continue
		}
		for _, name := range names {
			req, err := http.NewRequest(method, d.server.URL+path+"?"+name+"=", nil)
			require.NoError(t, err)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			res.Body.Close()
			if strings.Contains(string(text), "There is nothing at this path") {
				continue // not served here
			}
			asked++
			stranger := strings.Contains(string(text), "takes no such name")
			if stranger == slices.Contains(known, name) {
				t.Errorf("%s?%s=: %d %s; described is %q", call, name, res.StatusCode, text, known)
			}
		}
	}
	if asked < 150 {
		t.Errorf("only %d calls were made", asked)
	}
}

// TestDescriptionHasSecondsOfProfiles asks for profiles with the parameters in the
// description.
func TestDescriptionHasSecondsOfProfiles(t *testing.T) {
	d := openDesk(t)
	for query, want := range map[string]int{
		"heap?seconds=1": 200, "trace?seconds=0.01": 200, "heap?seconds=0.5": 400, "heap?seconds=0": 400, "heap?seconds=1&debug=1": 400,
		"cmdline?seconds=1": 404, "goroutine?debug=1": 200, "": 200, "nothing": 404,
	} {
		res, err := http.Get(fmt.Sprintf("%s/debug/pprof/%s", d.server.URL, query))
		require.NoError(t, err)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", query, res.StatusCode, want)
		}
	}
}

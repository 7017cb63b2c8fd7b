// Package dashboards has the tests of the folder dashboards: the dashboard as Grafana
// reads it, and the rules as Prometheus does.
package dashboards

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the folder of the files that they read.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../../../dashboards"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

package dashboards

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The dashboard goes through the published types of Grafana's dashboard model.
// They are Python's: RISKDEX_TEST_PYTHON names an interpreter that has
// the packages of requirements.txt.
func TestBoardFitsTheModel(t *testing.T) {
	python := os.Getenv("RISKDEX_TEST_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("RISKDEX_TEST_PYTHON is not set: it names a Python that has dashboards/requirements.txt installed")
		}
		t.Skip("RISKDEX_TEST_PYTHON is not set")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, python, "model.py", "riskdex.json").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

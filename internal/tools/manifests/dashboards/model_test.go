package dashboards

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"riskdex/internal/testkit/needs"
)

// TestBoardFitsTheModel decodes the dashboard into the published types of Grafana's
// dashboard model, which are in Python: RISKDEX_TEST_PYTHON names an interpreter with the
// packages of requirements.txt.
func TestBoardFitsTheModel(t *testing.T) {
	python := needs.Python(t, "dashboards/requirements.txt")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, python, "model.py", "riskdex.json").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

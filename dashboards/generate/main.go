// Command generate writes riskdex.json, the dashboard in Grafana's format, into the current
// folder.
package main

import (
	"fmt"
	"os"

	"riskdex/dashboards"
)

func main() {
	text, err := dashboards.JSON()
	if err == nil {
		err = os.WriteFile("riskdex.json", text, 0o644) // #nosec G306 -- a file of the repository, for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot write the dashboard:", err)
		os.Exit(1)
	}
}

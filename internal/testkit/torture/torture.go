// Package torture tells tests of faults how long to run: at full extent in `make torture`, and
// short enough to wait for in an ordinary run.
package torture

import "os"

// variable is the environment variable that asks for the full extent if it is not empty.
const variable = "RISKDEX_TORTURE"

// Wanted reports whether the full extent is asked for.
func Wanted() bool { return os.Getenv(variable) != "" }

// Extent returns full if the full extent is asked for, and ordinary otherwise.
func Extent(ordinary, full int) int {
	if Wanted() {
		return full
	}
	return ordinary
}

// Package torture tells tests how far to go: `make torture` has the tests of faults
// run at full extent, an ordinary run at one that everybody can wait for.
package torture

import "os"

// Variable is the environment variable that asks for the full extent, where it is
// not empty.
const Variable = "RISKDEX_TORTURE"

// Wanted tells whether the full extent is asked for.
func Wanted() bool { return os.Getenv(Variable) != "" }

// Extent chooses between the extent of an ordinary run and the full one.
func Extent(ordinary, full int) int {
	if Wanted() {
		return full
	}
	return ordinary
}

package main

import "os"

// long chooses between the extent of an ordinary run and that of `make torture`.
func long(ordinary, torture int) int {
	if os.Getenv("RISKDEX_TORTURE") != "" {
		return torture
	}
	return ordinary
}

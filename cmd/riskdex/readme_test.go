package main

import (
	"os"
	"testing"

	"riskdex/internal/require"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	return string(text)
}

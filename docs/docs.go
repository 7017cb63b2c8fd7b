// Package docs has what the program shows of its documentation.
package docs

import _ "embed"

// Operations is the runbook, in Markdown.
//
//go:embed operations.md
var Operations string

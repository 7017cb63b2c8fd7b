// Package sanitize makes text from outside safe to show. Control characters move the
// cursor of a terminal or change its colours, and those for the direction of text can make
// one text look like another.
//
//	terminal.go  for terminals and logs
//	shell.go     ids that people paste into a shell
//	page.go      for the status page, whose template escapes what HTML would read
//
// All functions may be called concurrently.
package sanitize

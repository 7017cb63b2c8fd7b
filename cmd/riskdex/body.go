package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"riskdex/internal/sanitize"
)

// readBody reads an edited body from a file, or from the standard input if file is "-".
func readBody(file string, in input) ([]byte, error) {
	var body []byte
	var err error
	if file == "-" {
		body, err = io.ReadAll(in)
	} else {
		body, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the edited body: %w", err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("the edited body is empty; to retry the kept one, leave --body out")
	}
	return body, nil
}

// printBody writes a body and nothing else: byte for byte unless w is a terminal.
func printBody(w io.Writer, body []byte) error {
	if isTerminal(w) {
		body = []byte(sanitize.Lines(string(body)) + "\n")
	}
	_, err := w.Write(body)
	return err
}

// showBody writes a body for people to read.
func showBody(w io.Writer, body []byte) {
	if len(body) == 0 {
		return
	}
	text := string(body)
	if isTerminal(w) {
		var pretty bytes.Buffer
		if json.Indent(&pretty, body, "", "  ") == nil {
			text = pretty.String()
		}
		text = sanitize.Lines(text)
	}
	fmt.Fprintf(w, "\n%s\n", text)
}

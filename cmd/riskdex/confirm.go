package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// input is what commands read answers or a body from.
type input struct{ io.Reader }

// isTerminal reports whether somebody may answer.
func (in input) isTerminal() bool {
	f, ok := in.Reader.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question on a terminal. Elsewhere nobody could answer, so yes must be set.
// The error is errNegative if the answer is no.
func confirm(ctx context.Context, io streams, in input, yes bool, question string) error {
	if yes {
		return nil
	}
	if !in.isTerminal() {
		return errors.New("this is for more than one and cannot be undone: add --yes")
	}
	fmt.Fprintf(io.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(untilDone{ctx, in}).ReadString('\n')
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		fmt.Fprintln(io.err, "nothing done")
		return errNegative
	}
	return nil
}

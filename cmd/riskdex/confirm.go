package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/term"

	"riskdex/admin"
	"riskdex/internal/sanitize"
)

// input is what commands read answers or a body from.
type input struct{ io.Reader }

// isTerminal reports whether somebody may answer.
func (in input) isTerminal() bool {
	f, ok := in.Reader.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// sure belongs to every command that removes something of a running riskdex, or gives it up, unless it
// names each.
type sure struct {
	Yes bool `name:"yes" help:"Do not ask before something is removed or given up."`
}

// confirm asks on a terminal, and says which journal of which riskdex that is about.
func (s sure) confirm(ctx context.Context, client *adminClient, in input, question string) error {
	if !s.Yes && in.isTerminal() {
		var j admin.JournalInfo
		if err := client.call(ctx, http.MethodGet, "/api/journal", nil, nil, &j); err != nil {
			return err
		}
		question = fmt.Sprintf("%s has the journal %s.\n%s", redacted(client.base), sanitize.OneLine(redacted(j.Name)), question)
	}
	return confirm(ctx, client.io, in, s.Yes, question)
}

// confirm asks a question on a terminal. Elsewhere nobody could answer, so yes must be set.
// The error is errNegative if the answer is no.
func confirm(ctx context.Context, io streams, in input, yes bool, question string) error {
	if yes {
		return nil
	}
	if !in.isTerminal() {
		return errors.New("this cannot be undone: add --yes")
	}
	fmt.Fprintf(io.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(untilDone{ctx, in}).ReadString('\n')
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		fmt.Fprintln(io.err, "nothing done")
		return errNegative
	}
	return nil
}

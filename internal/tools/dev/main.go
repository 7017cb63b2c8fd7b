// Command dev is what the Makefile calls to run things on a developer's machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/alecthomas/kong"
)

type commands struct {
	Run               runCommand               `cmd:"" help:"Bring everything up, push the sample feed and search it."`
	Elasticsearch     elasticsearchCommand     `cmd:"" help:"Run a local Elasticsearch until it is interrupted."`
	WithElasticsearch withElasticsearchCommand `cmd:"" help:"Run a command with an Elasticsearch of its own, for tests."`
	Test              testCommand              `cmd:"" help:"Run tests, and say in the end which were not run."`
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitStatus is the error of a command that has already printed what went wrong.
type exitStatus int

func (s exitStatus) Error() string { return "exit status " + strconv.Itoa(int(s)) }

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run runs the command that the arguments name and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	// kong ends the process after --help and after a mistake, unless told otherwise.
	status := -1
	parser, err := kong.New(&commands{},
		kong.Name("dev"),
		kong.Description("Helps on a developer's machine. The Makefile is its usual caller."),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { status = code }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
	)
	if err != nil {
		fmt.Fprintln(s.err, "dev:", err)
		return 1
	}
	parsed, err := parser.Parse(args)
	if status >= 0 {
		return status
	}
	if err != nil {
		parser.FatalIfErrorf(err)
		return status
	}
	err = parsed.Run()
	var exit exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	default:
		fmt.Fprintln(s.err, "dev:", err)
		return 1
	}
}

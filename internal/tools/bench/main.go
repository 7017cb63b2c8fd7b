package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Run  runCommand  `cmd:"" default:"withargs" help:"Measure, and print a table."`
	Peer peerCommand `cmd:"" hidden:"" help:"Be a program that riskdex is compared with."`
}

// streams are where results and progress are written.
type streams struct{ out, err io.Writer }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, s streams) error {
	parser, err := kong.New(&commands{}, kong.Name("bench"),
		kong.Description("Measures riskdex beside what limits it. The Makefile is its usual caller."),
		kong.Writers(s.out, s.err), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	err = parsed.Run()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

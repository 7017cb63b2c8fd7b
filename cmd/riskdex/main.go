// Command riskdex keeps a search index in step with a travel-risk feed. This package turns
// flags and signals into calls of the other packages, and connects those with each other.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"riskdex/internal/sanitize"

	"github.com/alecthomas/kong"
)

// Exit statuses, the same for every command.
const (
	exitDone     = 0
	exitNegative = 1 // done, with a negative answer: nothing found, something refused
	exitFailed   = 2 // not done: wrong usage, no server, no journal
	exitWarning  = 3 // of status: there are warnings, and nothing critical
)

// These end a command with exitNegative, exitFailed and exitWarning. The command has printed why by then.
var (
	errNegative = errors.New("the answer is no")
	errFailed   = errors.New("not done")
	errWarning  = errors.New("there are warnings")
)

type commands struct {
	Serve     serveCommand     `cmd:"" help:"Receive deliveries and keep Elasticsearch in step with them."`
	Search    searchCommand    `cmd:"" help:"Search the index as a traveller app does."`
	SearchAPI searchAPICommand `cmd:"" name:"search-api" help:"Answer searches of apps over HTTP. Needs no journal; any number may run."`
	Check     checkCommand     `cmd:"" help:"Try the settings of serve without serving: what is fine, doubtful or wrong."`
	Push      pushCommand      `cmd:"" help:"Deliver a sample feed, or a folder of JSON files."`

	Status    statusCommand    `cmd:"" help:"Show what is wrong, and what to do."`
	Show      showCommand      `cmd:"" help:"Show one document, from its newest delivery to the search that finds it."`
	History   historyCommand   `cmd:"" help:"Show what was delivered for one document, and when searches found it."`
	Delivery  deliveryCommand  `cmd:"" help:"Show what became of a delivery."`
	Dead      deadCommand      `cmd:"" help:"Look after documents that Elasticsearch refuses."`
	Refused   refusedCommand   `cmd:"" help:"Look after deliveries that were refused."`
	Rebuild   rebuildCommand   `cmd:"" help:"Replace an index by a new one, filled from the journal."`
	Verify    verifyCommand    `cmd:"" help:"Compare the index with the journal, and repair what differs."`
	Changes   changesCommand   `cmd:"" help:"Print the changes of documents, in order, and go on as they come."`
	Export    exportCommand    `cmd:"" help:"Write the newest records as JSON lines, which push takes."`
	Reconcile reconcileCommand `cmd:"" help:"Compare a list of the publisher's with what is here, and remove what it lacks."`
	Backup    backupCommand    `cmd:"" help:"Copy the journal while it is in use."`
	Restore   restoreCommand   `cmd:"" help:"Replace the journal with a copy, while no riskdex uses it."`
	Journal   journalCommand   `cmd:"" help:"Move the journal from one engine to the other, or confirm that a loss was made good."`
	Healthy   healthyCommand   `cmd:"" help:"Check whether riskdex can accept deliveries, for supervisors."`

	Metrics  metricsCommand  `cmd:"" help:"List the metrics that riskdex serve exposes."`
	Rules    rulesCommand    `cmd:"" help:"Print the alerting rules for Prometheus, with links that you choose."`
	Mappings mappingsCommand `cmd:"" help:"Check or export mapping files."`
	Version  versionCommand  `cmd:"" help:"Show what this program was built from."`

	Completion completionCommand `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Help       helpCommand       `cmd:"" help:"Show the help of a command."`
	Complete   completeCommand   `cmd:"" hidden:"" help:"Print what can complete a command line, for the scripts of completion."`
	Man        manCommand        `cmd:"" hidden:"" help:"Write the manual pages of all commands into a folder."`
}

// streams are the outputs of a command: nothing is written elsewhere.
type streams struct {
	out, err io.Writer
}

// outStream is an output that remembers that something could not be written to it, such as to a full
// disk. So no command has to look at each line that it prints.
type outStream struct {
	to     io.Writer
	failed atomic.Pointer[error]
}

func (o *outStream) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// The main goroutine keeps the main thread to itself, and only waits on it: Linux gives a signal
// to the main thread, and a thread that waits for a disk that hangs does not take it. So SIGTERM
// would have no effect while that thread is the one that writes to the journal.
func init() { runtime.LockOSThread() }

func main() {
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // does nothing until run says what it does
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := make(chan int)
	go func() { status <- run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr}) }()
	ended := <-status
	stop()
	os.Exit(ended)
}

// newParser returns the parser of the command line.
func newParser(cli *commands, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append([]kong.Option{
		kong.Name("riskdex"),
		kong.Description("Keeps a search index in step with a travel-risk feed."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(helpOf),
		kong.PostBuild(emptyIsUnset),
		servedHere(),
	}, more...)...)
}

// run runs the command that args name and returns the exit status. A command whose answer could not
// be written is not done.
func run(ctx context.Context, args []string, io streams) int {
	out := &outStream{to: io.out}
	io.out = out
	status := runCommand(ctx, args, io)
	if failed := out.failed.Load(); failed != nil && status != exitFailed {
		fmt.Fprintln(io.err, "riskdex:", *failed)
		return exitFailed
	}
	return status
}

func runCommand(ctx context.Context, args []string, io streams) int {
	if slices.Equal(args, []string{"--version"}) { // not a flag of commands, one of which has another of that name
		args = []string{"version"}
	}
	var cli commands
	exited := -1
	parser, err := newParser(&cli,
		kong.Writers(io.out, io.err),
		kong.Exit(func(status int) { exited = status }),
		kong.Bind(io),
		kong.Bind(input{os.Stdin}),
	)
	if err != nil {
		fmt.Fprintln(io.err, "riskdex:", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help has been shown
	}
	if err != nil {
		help := "riskdex"
		if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
			for _, p := range wrong.Context.Path {
				if p.Command != nil {
					help = "riskdex " + p.Command.Path()
				}
			}
		}
		fmt.Fprintf(io.err, "riskdex: %v\nTry: %s --help\n", err, help)
		return exitFailed
	}
	if err := checkVariables(parser, os.Environ()); err != nil {
		fmt.Fprintf(io.err, "riskdex: %s\n", strings.ReplaceAll(err.Error(), "\n", "\nriskdex: "))
		return exitFailed
	}
	if service := command.Selected().Name == "serve" || command.Selected().Name == "search-api"; !service && !signal.Ignored(syscall.SIGHUP) {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is closed
		defer stop()
	}
	command.BindTo(ctx, (*context.Context)(nil))
	switch err := command.Run(); {
	case err == nil:
		return exitDone
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.Is(err, errWarning):
		return exitWarning
	case errors.Is(err, errFailed):
		return exitFailed
	default:
		fmt.Fprintln(io.err, "riskdex:", sanitize.Lines(err.Error())) // which may quote an answer
		return exitFailed
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/elasticserver"
)

type withElasticsearchCommand struct {
	Command []string `arg:"" passthrough:"" help:"The command and its arguments, after --."`
}

// Help says what the command is given.
func (withElasticsearchCommand) Help() string {
	return "The command finds the server's address in " + elasticserver.TestURLVariable + `. Its exit status is that of dev.
Signals are forwarded to it. The server and its data are removed afterwards.`
}

// Run runs the command with a throw-away server.
func (c withElasticsearchCommand) Run(ctx context.Context, s streams) (err error) {
	command := c.Command
	if command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("with-elasticsearch: name a command after --")
	}
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Err != nil { // before anything is started
		return fmt.Errorf("with-elasticsearch: %w", cmd.Err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	home, remove, err := elasticserver.TempHome()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	// Compiled thoroughly: the exam's searches alone gain more than the start takes longer.
	server, err := startUnlessSignalled(ctx, signals, elasticserver.Options{Home: home, Heap: elasticserver.TestHeap, Log: s.err})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	cmd.Env = append(os.Environ(), elasticserver.TestURLVariable+"="+server.URL())
	running, err := child.Start(cmd)
	if err != nil {
		return err
	}
	for {
		select {
		case <-running.Done():
			if died := server.Err(); died != nil {
				fmt.Fprintln(s.err, "dev:", died)
			}
			return statusOf(running.Err())
		case sig := <-signals:
			// The whole group, because go test does not forward signals to its tests.
			if err := running.SignalGroup(sig.(syscall.Signal)); err != nil {
				fmt.Fprintln(s.err, "dev:", err)
			}
		}
	}
}

// startUnlessSignalled starts a server. If a signal comes meanwhile, it gives up with the exit
// status that shells report for a process that the signal ended.
func startUnlessSignalled(ctx context.Context, signals <-chan os.Signal, o elasticserver.Options) (*elasticserver.Server, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		server *elasticserver.Server
		err    error
	}
	started := make(chan result, 1)
	go func() {
		server, err := elasticserver.Start(ctx, o)
		started <- result{server, err}
	}()
	select {
	case r := <-started:
		return r.server, r.err
	case sig := <-signals:
		cancel()
		status := exitStatus(128 + int(sig.(syscall.Signal)))
		if r := <-started; r.err == nil {
			return nil, errors.Join(status, r.server.Stop())
		}
		return nil, status
	}
}

// statusOf returns the exit status of a command as an error, as a shell would report it.
func statusOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitStatus(128 + int(status.Signal()))
	}
	return exitStatus(exit.ExitCode())
}

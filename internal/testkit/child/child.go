// Package child starts processes that do not outlive the one that started them.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Child is a started process together with its descendants, which form a
// process group of their own. Its methods may be called from any goroutine.
type Child struct {
	pid  int
	done chan struct{}
	err  error // written before done is closed, read after

	mu    sync.Mutex
	ended bool // by Stop or Kill, so its end is not a failure
}

// guarded is a shell script that executes the command in its arguments and leaves a guard in
// the same process group. The guard reads from a pipe whose other end only our process holds.
// The system closes that end when our process is gone, whatever ended it, and the guard then
// kills the group.
const guarded = `(trap '' HUP INT QUIT TERM; read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 </dev/null & exec "$@" 3<&-`

// Start starts cmd in a process group of its own, which is killed when this
// process ends, however it ends, and when the child ends.
//
// If cmd.Stdout is not a file, the child counts as running until every
// descendant that inherited its output has ended too. cmd must not have
// ExtraFiles.
func Start(cmd *exec.Cmd) (*Child, error) {
	name := cmd.Path
	if cmd.Err != nil {
		return nil, fmt.Errorf("start %s: %w", name, cmd.Err)
	}
	alive, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer alive.Close()

	cmd.Args = append([]string{"sh", "-c", guarded, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.ExtraFiles = []*os.File{alive} // 3 there
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		hold.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c := &Child{pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		hold.Close()
		close(c.done)
	}()
	return c, nil
}

// PID returns the number of the child's process, which is that of its command: the shell that
// starts the command executes it in its own place.
func (c *Child) PID() int { return c.pid }

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns how the child ended: nil for exit status 0, otherwise what [exec.Cmd.Wait]
// returned. It is nil until Done is closed.
func (c *Child) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Signal sends sig to the child alone. It is not an error if the child has ended.
func (c *Child) Signal(sig syscall.Signal) error { return c.kill(c.pid, sig) }

// SignalGroup sends sig to the child and its descendants. It is not an error if all of them
// have ended.
func (c *Child) SignalGroup(sig syscall.Signal) error { return c.kill(-c.pid, sig) }

func (c *Child) kill(target int, sig syscall.Signal) error {
	select {
	case <-c.done:
		return nil // the system may have given the number to another process
	default:
	}
	if err := syscall.Kill(target, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %v to process %d: %w", sig, target, err)
	}
	return nil
}

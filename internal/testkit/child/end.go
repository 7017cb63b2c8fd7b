package child

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Stop asks the child to end and waits until it has. If that takes longer than timeout, Stop
// kills the child with its descendants and returns an error.
func (c *Child) Stop(timeout time.Duration) error {
	c.markEnded()
	if err := c.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-time.After(timeout):
		c.Kill()
		return fmt.Errorf("it did not end within %v and was killed", timeout)
	}
}

// Kill ends the child and its descendants as a power cut would, and waits until
// they are gone.
func (c *Child) Kill() {
	c.markEnded()
	// The only error is that there is nothing to kill.
	_ = c.SignalGroup(syscall.SIGKILL)
	<-c.done
}

// markEnded records that we end the child, unless it has ended already.
func (c *Child) markEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done:
	default:
		c.ended = true
	}
}

// Death returns how the child ended by itself. It is nil while the child runs and after Stop
// or Kill. Otherwise it is never nil, even if the exit status is 0.
func (c *Child) Death() error {
	select {
	case <-c.done:
	default:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return nil
	case c.err == nil:
		return errors.New("exit status 0")
	}
	return c.err
}

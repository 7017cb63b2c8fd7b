package indexer

import (
	"fmt"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// command is a request to the dispatcher.
type command struct {
	kind     report.Kind
	stop     bool       // stop the rebuild; otherwise start one
	takeOver bool       // start it even if another journal fills the index
	reply    chan error // has room for the answer
}

// commands carries commands to the dispatcher while it runs.
type commands struct {
	incoming       chan command
	begun, stopped chan struct{} // closed when the dispatcher begins, and stops, to accept commands
}

func newCommands() *commands {
	return &commands{incoming: make(chan command), begun: make(chan struct{}), stopped: make(chan struct{})}
}

// send passes a command to the dispatcher, which executes it at once.
func (c *commands) send(what command) error {
	select {
	case <-c.begun:
	default:
		return ErrNotRunning
	}
	what.reply = make(chan error, 1)
	select {
	case c.incoming <- what:
		return <-what.reply
	case <-c.stopped:
		return ErrNotRunning
	}
}

// execute executes a command.
func (d *dispatcher) execute(c command) error {
	for _, l := range d.all {
		if l.kind != c.kind {
			continue
		}
		var err error
		switch {
		case c.stop:
			err = l.stopRebuild(time.Now())
		case reasonOf(l.trouble) == reasonElsewhere:
			err = report.ErrKindLocked
		case reasonOf(l.trouble) == elastic.ReasonAlias:
			err = l.wrong
		case l.ownedByOther() && !c.takeOver && !l.rebuild.active():
			err = fmt.Errorf("%w: %s", report.ErrAnotherJournal, l.trouble.answer.Detail)
		default:
			err = l.startRebuild(report.CauseOperator, d.newBackOff, time.Now())
			if err == nil && c.takeOver {
				l.takeOver(time.Now())
			}
		}
		d.showRebuild(l)
		return err
	}
	return fmt.Errorf("no kind is called %q", c.kind)
}

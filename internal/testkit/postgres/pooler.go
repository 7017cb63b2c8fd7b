package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/freeport"
)

// Pooler is a PgBouncer in front of a server, with the settings of its manual's example. Like
// PostgreSQL, it refuses to run as root.
type Pooler struct {
	program, home string
	port          int
	user          *owner
	process       *child.Child
}

// NewPooler makes the folder of a PgBouncer, with settings such as "pool_mode = session" in
// place of its defaults. program is its path. Remove removes the folder.
func NewPooler(program string, s *Server, settings ...string) (*Pooler, error) {
	home, err := os.MkdirTemp("", "riskdex-pgbouncer-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for PgBouncer: %w", err)
	}
	p := &Pooler{program: program, home: home}
	if p.user, err = ownerOf(home); err == nil {
		p.port, err = freeport.Find()
	}
	for name, text := range map[string]string{
		"users": `"riskdex" ""`,
		"pgbouncer.ini": fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
			"unix_socket_dir =\nauth_type = trust\nauth_file = %s\nadmin_users = riskdex\n%s\n",
			s.port, p.port, filepath.Join(home, "users"), strings.Join(settings, "\n")),
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), []byte(text), 0o644) // #nosec G306 -- for its user
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

// Through returns the URL of a database of the server, through the pooler.
func (p *Pooler) Through(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d", p.port)
	return u.String()
}

// Start starts it, and returns when it answers.
func (p *Pooler) Start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(p.home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) // #nosec G302 -- of a test
	if err != nil {
		return fmt.Errorf("start PgBouncer: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(p.program, filepath.Join(p.home, "pgbouncer.ini")) // #nosec G204 -- of this machine
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.home, log, log, p.user.attributes()
	if p.process, err = child.Start(cmd); err != nil {
		return fmt.Errorf("start PgBouncer: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := p.Command(ctx, "SHOW VERSION")
		if err == nil {
			return nil
		}
		select {
		case <-p.process.Done():
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("start PgBouncer: it ended: %w; its log:\n%s", p.process.Err(), text)
		case <-ctx.Done():
			return fmt.Errorf("start PgBouncer: it does not answer: %w", err)
		case <-time.After(pollPause):
		}
	}
}

// Command carries out a command of its console, such as PAUSE.
func (p *Pooler) Command(ctx context.Context, command string) error {
	cfg, err := pgx.ParseConfig(p.Through("postgres://riskdex@h/pgbouncer?default_query_exec_mode=simple_protocol"))
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, command)
	return err
}

// Kill ends it at once, with all connections through it.
func (p *Pooler) Kill() { p.process.Kill() }

// Remove ends it if it runs, and removes its folder.
func (p *Pooler) Remove() error {
	if p.process != nil {
		p.process.Kill()
	}
	return os.RemoveAll(p.home)
}

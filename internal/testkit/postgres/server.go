// Package postgres starts PostgreSQL servers for tests and benchmarks: real ones, of the
// newest installed version, each in a folder of its own. They end with the process that
// started them.
package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/child"
	"riskdex/internal/testkit/freeport"
)

// ErrMissing is returned if no PostgreSQL is installed. It says how to install it.
var ErrMissing = errors.New("no PostgreSQL is installed; install it, on Debian with: apt-get install postgresql")

const (
	startTimeout = time.Minute
	stopTimeout  = 20 * time.Second
	pollPause    = 20 * time.Millisecond
)

// Server is a PostgreSQL server that trusts everybody on this machine, with a superuser called
// riskdex. Its methods may be called one at a time.
type Server struct {
	bin, home string
	port      int
	user      *owner
	process   *child.Child
}

// New makes a folder with an empty database, which Remove removes.
func New(ctx context.Context) (*Server, error) {
	s, err := place()
	if err != nil {
		return nil, err
	}
	if err := s.Tool(ctx, "initdb", "-D", s.data(), "-U", "riskdex", "--auth=trust", "--encoding=UTF8", "--no-sync"); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Standby makes a server that follows s by streaming replication. s must be running.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	standby, err := place()
	if err != nil {
		return nil, err
	}
	primary := fmt.Sprintf("host=127.0.0.1 port=%d user=riskdex application_name=standby", s.port)
	if err := standby.Tool(ctx, "pg_basebackup", "-D", standby.data(), "-d", primary, "-R", "--checkpoint=fast", "--no-sync"); err != nil {
		return nil, errors.Join(err, standby.Remove())
	}
	return standby, nil
}

// place makes the folder of a server.
func place() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "riskdex-postgres-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	s := &Server{bin: bin, home: home}
	if s.user, err = ownerOf(home); err == nil {
		s.port, err = freeport.Find()
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// programs returns the folder of the programs of the newest version.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // on Debian they are not in PATH
	slices.SortFunc(found, func(a, b string) int { return versionOf(b) - versionOf(a) })
	if len(found) == 0 {
		initdb, err := exec.LookPath("initdb")
		if err != nil {
			return "", ErrMissing
		}
		found = append(found, initdb)
	}
	return filepath.Dir(found[0]), nil
}

func versionOf(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

func (s *Server) data() string { return filepath.Join(s.home, "data") }
func (s *Server) log() string  { return filepath.Join(s.home, "log") }

// Port returns the port of the server, which stays the same after a restart.
func (s *Server) Port() int { return s.port }

// URL returns the URL of the server's database.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://riskdex@127.0.0.1:%d/postgres", s.port)
}

// Start starts the server, with settings such as synchronous_commit=on, and returns
// when it answers.
func (s *Server) Start(ctx context.Context, settings ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := s.start(ctx, settings)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "is still in use") {
			return err
		}
		time.Sleep(pollPause) // the processes of a killed server take a while to end
	}
}

func (s *Server) start(ctx context.Context, settings []string) error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port)}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"}, settings...) {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.home, log, log, s.user.attributes()
	if s.process, err = child.Start(cmd); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.process.Done():
			return fmt.Errorf("start PostgreSQL: it ended: %w; its log:\n%s", s.process.Err(), s.tail())
		case <-ctx.Done():
			s.process.Kill()
			return fmt.Errorf("start PostgreSQL: it does not answer: %w; its log:\n%s", err, s.tail())
		case <-time.After(pollPause):
		}
	}
}

// Stop ends the server without waiting for its clients.
func (s *Server) Stop() error {
	if s.process == nil {
		return nil
	}
	_ = s.process.Signal(fastShutdown)
	if err := s.process.Stop(stopTimeout); err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	return nil
}

// Kill ends the server as a crash of its machine would: all its processes, of which each could
// otherwise finish what it is doing.
func (s *Server) Kill() {
	// The only errors are that there is nothing to stop or to kill.
	_ = s.process.Signal(syscall.SIGSTOP) // so that there are no new ones
	_ = s.signalChildren(syscall.SIGKILL)
	s.process.Kill()
}

// Suspend stops all processes of the server until Resume, as if its machine hung. The kernel
// still accepts connections for it.
func (s *Server) Suspend() error {
	if err := s.process.Signal(syscall.SIGSTOP); err != nil { // first, so that there are no new ones
		return err
	}
	return s.signalChildren(syscall.SIGSTOP)
}

// Resume ends Suspend.
func (s *Server) Resume() error {
	return errors.Join(s.signalChildren(syscall.SIGCONT), s.process.Signal(syscall.SIGCONT))
}

// signalChildren sends a signal to the processes that the server has started, each of which is
// in a process group of its own.
func (s *Server) signalChildren(sig syscall.Signal) error {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	errs := []error{err}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // its state and its parent
		if len(fields) < 2 || fields[1] != strconv.Itoa(s.process.PID()) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("send %v to process %d of PostgreSQL: %w", sig, pid, err))
		}
	}
	return errors.Join(errs...)
}

// Promote makes a standby the primary, and returns when it accepts writes.
func (s *Server) Promote(ctx context.Context) error {
	return s.Tool(ctx, "pg_ctl", "promote", "-w", "-D", s.data())
}

// Save copies the data of a server that has ended, and PutBack sets it back to that.
func (s *Server) Save(ctx context.Context) error { return s.copyData(ctx, s.data(), s.data()+".saved") }

// PutBack is the opposite of Save.
func (s *Server) PutBack(ctx context.Context) error {
	return s.copyData(ctx, s.data()+".saved", s.data())
}

// PutBackTo is PutBack, and has the server go on from there to a restore point. It returns the settings
// for Start.
func (s *Server) PutBackTo(ctx context.Context, point string) (settings []string, err error) {
	wal := s.File("wal")
	if err = s.copyData(ctx, filepath.Join(s.data(), "pg_wal"), wal); err == nil {
		err = s.PutBack(ctx)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.data(), "recovery.signal"), nil, 0o644)
	}
	return []string{"restore_command=cp " + wal + "/%f %p", "recovery_target_name=" + point, "recovery_target_action=promote"}, err
}

func (s *Server) copyData(ctx context.Context, from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("replace the data of PostgreSQL: %w", err)
	}
	if said, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the data of PostgreSQL: %w; it says: %s", err, said)
	}
	return nil
}

// Remove removes the folder. The server must have ended.
func (s *Server) Remove() error {
	if err := os.RemoveAll(s.home); err != nil {
		return fmt.Errorf("remove PostgreSQL's folder: %w", err)
	}
	return nil
}

// File returns a path at which PostgreSQL's programs may write.
func (s *Server) File(name string) string { return filepath.Join(s.home, name) }

// Tool runs one of PostgreSQL's programs.
func (s *Server) Tool(ctx context.Context, name string, args ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.home, &said, &said, s.user.attributes()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; it says: %s", name, err, strings.TrimSpace(said.String()))
	}
	return nil
}

func (s *Server) tail() string {
	text, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

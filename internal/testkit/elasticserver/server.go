package elasticserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"riskdex/internal/testkit/child"
)

// stopTimeout is how long a stop may take before the server is killed.
const stopTimeout = 20 * time.Second

// Server is a running Elasticsearch. Its methods may be called from any goroutine, and
// more than once.
type Server struct {
	home        home
	start       *exec.Cmd
	version     string
	port        int
	process     *child.Child
	output      *console
	stopTimeout time.Duration
}

// Start prepares what is missing, starts a server, and returns when it answers and has
// opened its indices. ctx bounds the start only; the server runs until Stop, Kill, or the
// end of this process, however that ends.
//
// If the server does not come up, the error has the last lines of its log.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Home == "" {
		return nil, errors.New("start Elasticsearch: no home folder given")
	}
	r, err := releaseOf(o.Version)
	if err != nil {
		return nil, fmt.Errorf("start Elasticsearch: %w", err)
	}
	log := progress{o.Log}
	if err := checkPort(ctx, o.Port); err != nil {
		return nil, err
	}
	a, err := serverAccount()
	if err != nil {
		return nil, err
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	base, err := a.place(filepath.Join(root, ".local", "elasticsearch"), "servers")
	if err != nil {
		return nil, err
	}
	java, err := javaFor(ctx, a, r, base, log)
	if err != nil {
		return nil, err
	}
	folder, err := prepareIn(ctx, base, java, r.sources(), log)
	if err != nil {
		return nil, err
	}
	wanted, err := filepath.Abs(o.Home)
	if err != nil {
		return nil, fmt.Errorf("find the home of Elasticsearch: %w", err)
	}
	dir, err := a.place(wanted, "home-"+nameOf(wanted))
	if err != nil {
		return nil, err
	}
	if dir != wanted {
		log.printf("account %s, who runs the server, cannot reach %s: its data is in %s", a.name, wanted, dir)
	}
	h := home{dir}
	if err := h.claimFor(r); err != nil {
		return nil, err
	}
	if err := h.set(o); err != nil {
		return nil, err
	}
	output, err := openConsole(h.console())
	if err != nil {
		return nil, err
	}
	for _, own := range []string{h.data(), h.config(), h.logs(), h.tmp()} {
		if err := a.give(own); err != nil {
			return nil, errors.Join(err, output.Close())
		}
	}

	began := time.Now()
	log.printf("starting Elasticsearch %s, heap %s, log in %s", r.version, o.heap(), h.console())
	s := &Server{home: h, version: r.version, output: output, stopTimeout: stopTimeout}
	s.start = s.command(a, folder, java)
	s.process, err = child.Start(s.start)
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	go func() {
		<-s.process.Done()
		output.Close() // nothing more is written, and nobody could be told
	}()
	if s.port, err = s.awaitReady(ctx); err != nil {
		s.Kill()
		return nil, err
	}
	log.printf("Elasticsearch is ready at %s after %.1fs", s.URL(), time.Since(began).Seconds())
	return s, nil
}

// command returns the command that starts the server: the script that comes with it,
// which starts a small JVM, which starts the server. When that small JVM ends, so does
// the server, because its input ends.
func (s *Server) command(a *account, folder, java string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(folder, "bin", "elasticsearch"))
	cmd.Dir = folder
	cmd.SysProcAttr = a.attributes()
	cmd.Stdout = s.output
	cmd.Stderr = s.output
	cmd.Env = []string{ // nothing of our environment, so that it runs the same everywhere
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		"HOME=" + s.home.tmp(),
		"ES_JAVA_HOME=" + java,
		"ES_PATH_CONF=" + s.home.config(),
		"ES_TMPDIR=" + s.home.tmp(),
		"CLI_JAVA_OPTS=" + fastCompiler, // for the small JVM, which lives as long as the start
	}
	return cmd
}

// URL returns the URL of the server, without a slash at the end.
func (s *Server) URL() string { return "http://" + address(s.port) }

// Port returns the port on which the server listens.
func (s *Server) Port() int { return s.port }

// Version returns the version of the server.
func (s *Server) Version() string { return s.version }

// Home returns the folder that the server uses, which may replace the requested one.
func (s *Server) Home() string { return s.home.dir }

// Installation returns the folder with Elasticsearch's own files, which servers share, and the
// environment in which its tools in bin work on the configuration of this server.
func (s *Server) Installation() (folder string, env []string) {
	return s.start.Dir, slices.Clone(s.start.Env)
}

// Done is closed when all of the server's processes have ended, so that another server
// can use the same home and port.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Err returns why the server ended by itself, with the last lines of its log. It is nil
// while the server runs and after Stop or Kill.
func (s *Server) Err() error {
	how := s.process.Death()
	if how == nil {
		return nil
	}
	return fmt.Errorf("the Elasticsearch server ended by itself (%w); its log is %s and ends:\n%s", how, s.home.console(), s.output.tail())
}

// Stop asks the server to end and waits until it has. If that takes longer than 20
// seconds, Stop kills the server and returns an error.
func (s *Server) Stop() error {
	if err := s.process.Stop(s.stopTimeout); err != nil {
		return fmt.Errorf("stop Elasticsearch: %w; its log is %s", err, s.home.console())
	}
	return nil
}

// Kill ends the server as a power cut would, and waits until it is gone.
func (s *Server) Kill() { s.process.Kill() }

// portTimeout is how long a port may stay in use after its server was killed. The
// server's output, whose end shows that the server has ended, is closed a little before
// its sockets.
const portTimeout = 2 * time.Second

// checkPort fails if something keeps listening on the port. The server would report that
// too, but only after seconds and in many lines.
func checkPort(ctx context.Context, port int) error {
	if port == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, portTimeout)
	defer cancel()
	l, err := net.Listen("tcp", address(port))
	for errors.Is(err, syscall.EADDRINUSE) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(portTimeout / 100):
		}
		l, err = net.Listen("tcp", address(port))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("start Elasticsearch on %s: %w: stop what listens there (ss -ltnp 'sport = :%d' names it), or choose another port with %s",
			address(port), ErrPortTaken, port, PortVariable)
	}
	if err != nil {
		return fmt.Errorf("start Elasticsearch: try the port: %w", err)
	}
	return l.Close()
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

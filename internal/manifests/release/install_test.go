package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/freeport"
	"riskdex/internal/needs"
	"riskdex/internal/require"
)

// insideVariable names a folder, on a file system of its own, in which the test binary makes a
// copy of this machine that goes with it.
const insideVariable = "RISKDEX_TEST_INSIDE"

// install installs packages with the tools of this machine on a copy of it, in name spaces
// of their own: when they end, so do the copy and all processes in it.
func install(t *testing.T, before, after, rpm string) {
	for program, from := range map[string]string{"dpkg": "dpkg", "systemd-analyze": "systemd", "man": "man-db", "unshare": "util-linux", "rpm": "rpm"} {
		needs.Program(t, program, "apt-get install "+from)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may install packages")
	}
	listen, err := freeport.Address()
	require.NoError(t, err)
	admin, err := freeport.Address()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", os.Args[0])
	cmd.Env = append(os.Environ(), insideVariable+"="+t.TempDir(), "BEFORE="+before, "AFTER="+after, "RPM="+rpm,
		"ELASTICSEARCH="+elastictest.URL(t), "PREFIX="+elastictest.Prefix(t), "LISTEN="+listen, "ADMIN="+admin)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// runInside reports whether this process is the one inside. It ends the process if something
// is wrong.
func runInside() bool {
	dir := os.Getenv(insideVariable)
	if dir == "" {
		return false
	}
	m := machine{root: filepath.Join(dir, "root"), changes: filepath.Join(dir, "tmpfs", "changes")}
	if err := inTurn(func() error { return m.make(dir) }, m.try); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

// machine is a copy of this one: what is written goes to a folder in memory.
type machine struct{ root, changes string }

func (m machine) make(dir string) error {
	memory := filepath.Join(dir, "tmpfs")
	for _, folder := range []string{m.root, memory} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	if err := syscall.Mount("tmpfs", memory, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount a folder in memory: %w", err)
	}
	work := filepath.Join(memory, "work")
	if err := errors.Join(os.Mkdir(m.changes, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	if err := syscall.Mount("overlay", m.root, "overlay", 0, "lowerdir=/,upperdir="+m.changes+",workdir="+work); err != nil {
		return fmt.Errorf("mount a copy of this machine: %w", err)
	}
	for _, bound := range []string{"/dev", filepath.Dir(os.Getenv("BEFORE")), filepath.Dir(os.Getenv("AFTER"))} {
		if err := errors.Join(os.MkdirAll(m.root+bound, 0o755), syscall.Mount(bound, m.root+bound, "", syscall.MS_BIND, "")); err != nil {
			return fmt.Errorf("mount %s: %w", bound, err)
		}
	}
	return syscall.Mount("proc", m.root+"/proc", "proc", 0, "")
}

// try installs, starts, upgrades, removes and purges riskdex.
func (m machine) try() error {
	const settings = "/etc/riskdex/riskdex.env"
	s := service{machine: m}
	return inTurn(
		m.says("start it: systemctl enable --now riskdex", "dpkg", "-i", os.Getenv("BEFORE")),
		m.says("riskdex v0.1.0, commit ", "riskdex", "--version"),
		m.says(settings, "dpkg-query", "-W", "-f", "${Conffiles}", "riskdex"),
		m.says("", "dpkg", "-V", "riskdex"),
		m.says("", "systemd-analyze", "verify", "riskdex.service"),
		m.says("Overall exposure level", "systemd-analyze", "security", "--offline=true", "--threshold=15", "riskdex.service"),
		m.says("riskdex-serve.1", "man", "-w", "riskdex-serve"),
		m.says("list show retry drop", "bash", "-c", ". /usr/share/bash-completion/completions/riskdex; COMP_WORDS=(riskdex dead ''); COMP_CWORD=2; _riskdex riskdex; echo ${COMPREPLY[*]}"),
		m.writes(settings, "RISKDEX_LISTEN="+os.Getenv("LISTEN"), "RISKDEX_ADMIN_LISTEN="+os.Getenv("ADMIN"),
			"ELASTICSEARCH_URL="+os.Getenv("ELASTICSEARCH"), "RISKDEX_INDEX_PREFIX="+os.Getenv("PREFIX"), "RISKDEX_BEARER_FILE=/run/credentials/riskdex.service/riskdex_bearer"),
		m.writes("/etc/riskdex/credentials/bearer", "a-token-that-is-long-enough-to-be-one"),
		m.writes("/root/feed/cities/LON.json", `{"id": 130, "code": "LON", "title": "London", "body": "Protests are announced."}`),
		// A search is of all kinds, and so needs the indices of all.
		m.writes("/root/feed/advisories/gb.json", `{"id": "gb", "title": "United Kingdom", "body": "Take care."}`),
		m.writes("/root/feed/special-reports/1.json", `{"id": 1, "title": "Rail strikes", "body": "Trains do not run."}`),
		m.says("", "systemctl", "enable", "riskdex.service"),
		s.start,
		m.says("", "riskdex", "push", "/root/feed", "--to", "http://"+os.Getenv("LISTEN"), "--wait", "60s", "--bearer-file", "/etc/riskdex/credentials/bearer"),
		m.says("London", "riskdex", "search", "protest", "--elasticsearch-url", os.Getenv("ELASTICSEARCH"), "--index-prefix", os.Getenv("PREFIX")),
		// systemd would stop it after the new one is unpacked; both is the same to the journal.
		s.stop,
		m.says("Setting up riskdex (0.2.0)", "dpkg", "-i", os.Getenv("AFTER")),
		m.says("riskdex v0.2.0, commit ", "riskdex", "--version"),
		m.says("RISKDEX_LISTEN="+os.Getenv("LISTEN"), "cat", settings),
		s.start,
		m.says("searchable", "riskdex", "show", "cities", "LON", "--admin", "http://"+os.Getenv("ADMIN")),
		s.stop,
		m.says("Removing riskdex", "dpkg", "-r", "riskdex"),
		m.left("/etc/riskdex", "/var/lib/private/riskdex", "/etc/riskdex/credentials", "/etc/riskdex/credentials/bearer", settings, "/var/lib/private/riskdex/riskdex.db", "/var/lib/riskdex"),
		m.says("Purging configuration files", "dpkg", "-P", "riskdex"),
		m.left(),
		m.says("", "rpm", "-K", "--nosignature", os.Getenv("RPM")),
		m.says("start it: systemctl enable --now riskdex", "rpm", "-i", "--force-debian", "--nodeps", os.Getenv("RPM")),
		m.says("riskdex v0.1.0, commit ", "riskdex", "--version"),
		m.says("", "rpm", "-V", "--nodeps", "riskdex"),
		m.says("", "rpm", "-e", "--force-debian", "riskdex"),
		m.left(),
	)
}

// inTurn does one step after the other, to the first that fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// says runs a program on the machine, which must end well and print a text, with any case.
// With no text it must not print a warning.
func (m machine) says(text string, args ...string) func() error {
	return func() error {
		cmd := exec.Command("chroot", append([]string{m.root}, args...)...)
		cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "HOME=/root"}
		out, err := cmd.CombinedOutput()
		fmt.Printf("# %s\n%s", strings.Join(args, " "), out)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		if text != "" && !strings.Contains(strings.ToLower(string(out)), strings.ToLower(text)) {
			return fmt.Errorf("%s does not say %q", strings.Join(args, " "), text)
		}
		if text == "" && bytes.Contains(out, []byte("riskdex.service:")) {
			return fmt.Errorf("%s finds fault with the unit", strings.Join(args, " "))
		}
		return nil
	}
}

// writes appends lines to a file.
func (m machine) writes(path string, lines ...string) func() error {
	return func() error {
		if err := os.MkdirAll(filepath.Dir(m.root+path), 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(m.root+path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
		return errors.Join(err, file.Close())
	}
}

// left checks which files of riskdex the machine has that this one has not.
func (m machine) left(want ...string) func() error {
	return func() error {
		var got []string
		err := filepath.WalkDir(m.changes, func(path string, entry fs.DirEntry, err error) error {
			name := strings.TrimPrefix(path, m.changes)
			info, statErr := entry.Info()
			if err != nil || statErr != nil {
				return errors.Join(err, statErr)
			}
			whiteout := info.Mode()&fs.ModeCharDevice != 0 // was removed
			system := strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/root/") || strings.HasPrefix(name, "/run/") || strings.HasPrefix(name, "/var/cache/man/")
			if strings.Contains(name, "riskdex") && !whiteout && !system &&
				!strings.HasPrefix(name, "/var/lib/dpkg/") && !strings.HasPrefix(filepath.Base(name), "riskdex.db-") && !strings.HasPrefix(filepath.Base(name), "riskdex.db.") {
				got = append(got, name)
			}
			return nil
		})
		slices.Sort(want)
		if slices.Sort(got); err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("left are %q, want %q", got, want)
		}
		return err
	}
}

// service does what systemd does with riskdex.service: it is not running here. The service
// runs as a user of its own, without capabilities, on a machine that it cannot write to but
// for its folder, with nothing in the environment but what the unit says.
type service struct {
	machine
	running *exec.Cmd
	ended   chan error
}

const (
	state       = "/var/lib/private/riskdex"
	credentials = "/run/credentials/riskdex.service/"
	user        = 64999 // one of those that DynamicUser takes
)

func (s *service) start() error {
	unit, err := s.unit()
	if err != nil {
		return err
	}
	if err := errors.Join(s.makeState(unit), s.loadCredentials(unit)); err != nil {
		return err
	}
	args := strings.Fields(unit.one("ExecStart"))
	env, err := s.environment(unit)
	if err != nil {
		return err
	}
	s.running = &exec.Cmd{Path: args[0], Args: args, Env: env, Dir: unit.one("WorkingDirectory"), Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Chroot: s.root, Credential: &syscall.Credential{Uid: user, Gid: user}}}
	if err := s.running.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.running.Wait() }()
	for exec.Command("chroot", s.root, "riskdex", "healthy", "--admin", "http://"+os.Getenv("ADMIN")).Run() != nil {
		select {
		case err := <-s.ended:
			return fmt.Errorf("the service does not start: %w", err)
		case <-time.After(50 * time.Millisecond): // ask again
		}
	}
	return nil
}

func (s *service) stop() error {
	if err := s.running.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := <-s.ended; err != nil {
		return fmt.Errorf("the service ends with %w", err)
	}
	return s.writable(true)
}

// unit is what riskdex.service says: the values of each name.
type unit map[string][]string

func (u unit) one(name string) string {
	if len(u[name]) != 1 {
		panic(fmt.Sprintf("the unit has %d lines %s=", len(u[name]), name))
	}
	return u[name][0]
}

func (s *service) unit() (unit, error) {
	text, err := os.ReadFile(s.root + "/usr/lib/systemd/system/riskdex.service")
	u := unit{}
	for line := range strings.Lines(string(text)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			u[name] = append(u[name], value)
		}
	}
	return u, err
}

// makeState makes the folder of StateDirectory, as DynamicUser has it, and then the only one
// that can be written to.
func (s *service) makeState(u unit) error {
	if u.one("StateDirectory") != "riskdex" || u.one("DynamicUser") != "yes" || u.one("ProtectSystem") != "strict" {
		return errors.New("the unit is not the one that this test imitates")
	}
	if err := os.MkdirAll(s.root+state, 0o700); err != nil {
		return err
	}
	if err := os.Symlink("private/riskdex", s.root+"/var/lib/riskdex"); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The folder above is 0700: for the service, systemd mounts it elsewhere.
	return errors.Join(os.Chmod(s.root+filepath.Dir(state), 0o711), os.Chown(s.root+state, user, user))
}

// loadCredentials copies what LoadCredential names, and has the machine read-only from now on.
func (s *service) loadCredentials(u unit) error {
	id, from, _ := strings.Cut(u.one("LoadCredential"), ":")
	files, err := os.ReadDir(s.root + from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.root+credentials, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(s.root+from, file.Name()))
		if err != nil {
			return err
		}
		to := s.root + credentials + id + "_" + file.Name()
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(to, content, 0o400), os.Chown(to, user, user)); err != nil {
			return err
		}
	}
	return s.writable(false)
}

// writable has the whole machine writable, or only the folder of the service.
func (s *service) writable(all bool) error {
	if all {
		return errors.Join(syscall.Unmount(s.root+state, 0), syscall.Mount("", s.root, "", syscall.MS_REMOUNT|syscall.MS_BIND, ""))
	}
	return errors.Join(syscall.Mount(s.root+state, s.root+state, "", syscall.MS_BIND, ""),
		syscall.Mount("", s.root, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
}

// environment is that of the unit alone.
func (s *service) environment(u unit) ([]string, error) {
	env := []string{"PATH=/usr/bin", "CREDENTIALS_DIRECTORY=" + strings.TrimSuffix(credentials, "/"), u.one("Environment")}
	text, err := os.ReadFile(s.root + strings.TrimPrefix(u.one("EnvironmentFile"), "-"))
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return env, err
}

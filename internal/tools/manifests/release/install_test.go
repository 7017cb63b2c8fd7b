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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
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
		m.says("", "systemd-analyze", "verify", "riskdex.service", "riskdex-backup.service", "riskdex-backup.timer"),
		m.says("Overall exposure level", "systemd-analyze", "security", "--offline=true", "--threshold=15", "riskdex.service"),
		m.says("riskdex-serve.1", "man", "-w", "riskdex-serve"),
		m.says("list show retry drop", "bash", "-c", ". /usr/share/bash-completion/completions/riskdex; COMP_WORDS=(riskdex dead ''); COMP_CWORD=2; _riskdex riskdex; echo ${COMPREPLY[*]}"),
		m.writes(settings, "RISKDEX_LISTEN="+os.Getenv("LISTEN"), "RISKDEX_ADMIN_LISTEN="+os.Getenv("ADMIN"),
			"ELASTICSEARCH_URL="+os.Getenv("ELASTICSEARCH"), "RISKDEX_INDEX_PREFIX="+os.Getenv("PREFIX"), "RISKDEX_BEARER_FILE="+credentials+"/bearer"),
		m.writes(credentials+"/bearer", "a-token-that-is-long-enough-to-be-one"),
		m.writes("/root/feed/cities/LON.json", `{"id": 130, "code": "LON", "title": "London", "body": "Protests are announced."}`),
		m.writes("/root/bearer", "another-token-that-is-long-enough"),
		// A search is of all kinds, and so needs the indices of all.
		m.writes("/root/feed/advisories/gb.json", `{"id": "gb", "title": "United Kingdom", "body": "Take care."}`),
		m.writes("/root/feed/special-reports/1.json", `{"id": 1, "title": "Rail strikes", "body": "Trains do not run."}`),
		m.says("", "systemctl", "enable", "riskdex.service"),
		s.start,
		s.push(credentials+"/bearer"),
		fails("is on the disk of the journal", s.backup),
		m.says("London", "riskdex", "search", "protest", "--elasticsearch-url", os.Getenv("ELASTICSEARCH"), "--index-prefix", os.Getenv("PREFIX")),
		// A file that only root may read takes the place of another.
		s.replaces(credentials+"/bearer", "/root/bearer"),
		s.reload,
		s.push("/root/bearer"),
		// systemd would stop it after the new one is unpacked; both is the same to the journal.
		s.stop,
		m.says("Setting up riskdex (0.2.0)", "dpkg", "-i", os.Getenv("AFTER")),
		m.says("riskdex v0.2.0, commit ", "riskdex", "--version"),
		m.says("RISKDEX_LISTEN="+os.Getenv("LISTEN"), "cat", settings),
		s.otherDisk,
		s.start,
		s.backup,
		m.says("7", "sh", "-c", "ls "+backups+" | wc -l"),
		m.says("searchable", "riskdex", "show", "cities", "LON", "--admin", "http://"+os.Getenv("ADMIN")),
		s.stop,
		m.says("", "umount", backups),
		m.says("Removing riskdex", "dpkg", "-r", "riskdex"),
		m.left("/etc/riskdex", credentials, credentials+"/bearer", settings, state, state+"/riskdex.db", backups),
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
// runs as its user, without capabilities, on a machine that it cannot write to but
// for its directories, with nothing in the environment but what the unit says.
type service struct {
	machine
	running *exec.Cmd
	ended   chan error
}

const (
	state       = "/var/lib/riskdex"
	backups     = "/var/backups/riskdex"
	credentials = "/etc/riskdex/credentials"
)

func (s *service) start() error {
	unit, err := s.unit("riskdex.service")
	if err != nil {
		return err
	}
	if unit.one("StateDirectory") != "riskdex" || unit.one("ProtectSystem") != "strict" || unit.one("ReadWritePaths") != "-"+backups {
		return errors.New("the unit is not the one that this test imitates")
	}
	if s.running, err = s.process(unit); err != nil {
		return err
	}
	uid := int(s.running.SysProcAttr.Credential.Uid)
	steps := []func() error{
		s.privileged(unit.one("ExecStartPre")),
		func() error { return os.MkdirAll(s.root+state, 0o700) },
		func() error { return os.Chown(s.root+state, uid, uid) },
	}
	for _, dir := range []string{state, backups} { // which stay writable
		steps = append(steps, func() error { return syscall.Mount(s.root+dir, s.root+dir, "", syscall.MS_BIND, "") })
	}
	if err := inTurn(append(steps, s.writable(false), s.running.Start)...); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.running.Wait() }()
	return s.until(func() bool {
		return exec.Command("chroot", s.root, "riskdex", "healthy", "--admin", "http://"+os.Getenv("ADMIN")).Run() == nil
	})
}

// until waits until something is so, while the service runs.
func (s *service) until(is func() bool) error {
	for !is() {
		select {
		case err := <-s.ended:
			return fmt.Errorf("the service ends: %w", err)
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
	return errors.Join(syscall.Unmount(s.root+state, 0), syscall.Unmount(s.root+backups, 0), s.writable(true)())
}

// reload does what systemctl reload does.
func (s *service) reload() error {
	unit, err := s.unit("riskdex.service")
	lines := unit["ExecReload"]
	if err != nil || len(lines) != 2 || lines[1] != "/bin/kill -HUP $MAINPID" {
		return fmt.Errorf("the unit reloads by %q, %w", lines, err)
	}
	return inTurn(s.writable(true), s.privileged(lines[0]), s.writable(false),
		func() error { return s.running.Process.Signal(syscall.SIGHUP) })
}

// push delivers the feed with a token, once it is accepted.
func (s *service) push(token string) func() error {
	return func() error {
		return s.until(func() bool {
			return s.says("", "riskdex", "push", "/root/feed", "--to", "http://"+os.Getenv("LISTEN"), "--wait", "60s", "--bearer-file", token)() == nil
		})
	}
}

// replaces puts a copy of a file, which only root may read, in the place of another.
func (s *service) replaces(old, with string) func() error {
	return func() error {
		return inTurn(s.writable(true), s.says("", "install", "-m", "600", with, old), s.writable(false))
	}
}

// otherDisk mounts a disk where backups go, which has eight already.
func (s *service) otherDisk() error {
	if err := syscall.Mount("tmpfs", s.root+backups, "tmpfs", 0, ""); err != nil {
		return err
	}
	for day := range 8 {
		if err := s.writes(fmt.Sprintf("%s/riskdex-2026010%dT000000Z.db", backups, day+1), "a backup")(); err != nil {
			return err
		}
	}
	return s.says("", "chown", "-R", "riskdex:", backups)()
}

// backup does what the timer does.
func (s *service) backup() error {
	unit, err := s.unit("riskdex-backup.service")
	if err != nil {
		return err
	}
	cmd, err := s.process(unit)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	fmt.Printf("# %s\n%s", cmd, &out)
	if err != nil {
		return fmt.Errorf("%s: %w", &out, err)
	}
	return nil
}

// fails expects a step to fail, and to say why.
func fails(why string, step func() error) func() error {
	return func() error {
		if err := step(); err == nil || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("the error is %w, which does not say %q", err, why)
		}
		return nil
	}
}

// unit is what a unit says: the values of each name.
type unit map[string][]string

func (u unit) one(name string) string {
	if len(u[name]) != 1 {
		panic(fmt.Sprintf("the unit has %d lines %s=", len(u[name]), name))
	}
	return u[name][0]
}

func (s *service) unit(name string) (unit, error) {
	text, err := os.ReadFile(s.root + "/usr/lib/systemd/system/" + name)
	u := unit{}
	for line := range strings.Lines(string(text)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			u[name] = append(u[name], value)
		}
	}
	return u, err
}

// privileged runs a line of the unit that begins with +, which is for root.
func (s *service) privileged(line string) func() error {
	if !strings.HasPrefix(line, "+") {
		panic(line + " is not for root")
	}
	return s.says("", strings.Fields(line[1:])...)
}

// writable has the whole machine writable, or only the directories of the service.
func (s *service) writable(all bool) func() error {
	flags := uintptr(syscall.MS_REMOUNT | syscall.MS_BIND)
	if !all {
		flags |= syscall.MS_RDONLY
	}
	return func() error { return syscall.Mount("", s.root, "", flags, "") }
}

// process is what the unit starts, as its user and with the environment of the unit alone.
func (s *service) process(u unit) (*exec.Cmd, error) {
	id, err := exec.Command("chroot", s.root, "id", "-u", u.one("User")).Output()
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(strings.TrimSpace(string(id)), 10, 32)
	if err != nil {
		return nil, err
	}
	env := append([]string{"PATH=/usr/bin"}, u["Environment"]...)
	text, err := os.ReadFile(s.root + strings.TrimPrefix(u.one("EnvironmentFile"), "-"))
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	args := strings.Fields(u.one("ExecStart"))
	return &exec.Cmd{Path: args[0], Args: args, Env: env, Dir: "/", Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Chroot: s.root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}}, err
}

package networktest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// echo starts a server that sends back what it receives, behind a proxy, and returns the
// address of the proxy.
func echo(t *testing.T) (p *Proxy, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	p, through := New(t, "tcp://"+listener.Addr().String())
	u, err := url.Parse(through)
	if err != nil {
		t.Fatal(err)
	}
	return p, u.Host
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// exchange sends text and returns what comes back.
func exchange(t *testing.T, c net.Conn, text string) (string, error) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	got := make([]byte, len(text))
	n, err := io.ReadFull(c, got)
	return string(got[:n]), err
}

func TestFaultsThatOnlySlowDown(t *testing.T) {
	p, address := echo(t)
	c := dial(t, address) // stays open meanwhile
	text := strings.Repeat("0123456789", 1000)
	for name, f := range map[string]struct {
		fault Fault
		least time.Duration
	}{
		"none":   {nil, 0},
		"late":   {Late(30*time.Millisecond, 10*time.Millisecond), 20 * time.Millisecond},
		"slices": {Slices(1000, time.Microsecond), 0},
		"narrow": {Narrow(500_000), 20 * time.Millisecond},
	} {
		for _, d := range []Direction{ToServer, ToClient} {
			p.Spoil(d, f.fault)
			began := time.Now()
			if got, err := exchange(t, c, text); err != nil || got != text {
				t.Errorf("%s: %d bytes arrive, %v", name, len(got), err)
			}
			if took := time.Since(began); took < f.least {
				t.Errorf("%s: it takes %v", name, took)
			}
			p.Heal()
		}
	}
}

func TestFaultsThatEndTheConnection(t *testing.T) {
	p, address := echo(t)
	for name, f := range map[string]struct {
		fault Fault
		got   string
		end   error
	}{
		"limit":   {Limit(3), "abc", io.ErrUnexpectedEOF},
		"nothing": {Limit(0), "", io.EOF},
		"reset":   {Reset(time.Millisecond), "", syscall.ECONNRESET},
		"swallow": {Swallow(time.Millisecond), "", io.EOF},
	} {
		for _, d := range []Direction{ToServer, ToClient} {
			c := dial(t, address)
			p.Spoil(d, f.fault)
			got, err := exchange(t, c, "abcdef")
			if f.end == io.ErrUnexpectedEOF && d == ToServer {
				// What has passed may still be on its way back when the connection ends.
				if err == nil || len(got) > 3 {
					t.Errorf("%s to the server: %q, %v", name, got, err)
				}
			} else if got != f.got || !errors.Is(err, f.end) {
				t.Errorf("%s: received %q, %v", name, got, err)
			}
			p.Heal()
		}
	}
}

func TestSwallowedBytesEndTheConnectionWhenItHeals(t *testing.T) {
	p, address := echo(t)
	lossy, idle := dial(t, address), dial(t, address)
	for _, c := range []net.Conn{lossy, idle} {
		if got, err := exchange(t, c, "x"); got != "x" {
			t.Fatal(got, err)
		}
	}
	p.Swallow()
	if _, err := io.WriteString(lossy, "gone"); err != nil {
		t.Fatal(err)
	}
	for !p.lossy() {
		time.Sleep(time.Millisecond)
	}
	p.Heal()
	if n, err := lossy.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes arrive on a connection that has lost some", n)
	}
	if got, err := exchange(t, idle, "still there"); got != "still there" {
		t.Errorf("an idle connection returned %q, %v after Heal", got, err)
	}
}

// lossy reports whether a connection has lost bytes.
func (p *Proxy) lossy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if l.lost.Load() {
			return true
		}
	}
	return false
}

func TestCutAndRestore(t *testing.T) {
	p, address := echo(t)
	c := dial(t, address)
	p.Cut()
	if got, err := exchange(t, c, "x"); err == nil {
		t.Errorf("%q comes back through a cut connection", got)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the proxy accepts a connection while cut")
	}
	p.Restore()
	if got, err := exchange(t, dial(t, address), "x"); got != "x" {
		t.Errorf("a connection returned %q, %v after Restore", got, err)
	}
}

package receiver

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// established is the state of a TCP connection that neither side has closed, which
// net/tcp_states.h calls TCP_ESTABLISHED.
const established = 1

// isClosed reports whether the other side of a TCP connection has closed it. The system knows
// that at once, even if data is still to be read.
func isClosed(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	closed := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		closed = err == nil && info.State != established
	})
	return closed || err != nil // an error: it is closed on this side
}

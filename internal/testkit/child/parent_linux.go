package child

import "syscall"

// WithParent has the system kill a process when the thread that starts it ends, for processes that
// Start would change too much. Elsewhere than on Linux it does nothing.
func WithParent(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}

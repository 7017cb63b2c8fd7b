//go:build !linux

package child

import "syscall"

// WithParent does nothing here: see parent_linux.go.
func WithParent(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

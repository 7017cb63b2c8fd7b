package main

import (
	"fmt"
	"os"
	"strings"

	"riskdex/internal/testkit/require"
)

// memory returns a figure of the kernel about a process, in bytes: VmHWM is the largest
// resident set that it ever had, VmRSS its resident set now.
func (p *process) memory(name string) int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	p.t.Fatalf("%s is not in %q", name, status)
	return 0
}

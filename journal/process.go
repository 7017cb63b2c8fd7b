package journal

import (
	"fmt"
	"os"
)

// ProcessName is what this process is called among those that work on a journal: its
// host and its number there.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %d", host, os.Getpid())
}

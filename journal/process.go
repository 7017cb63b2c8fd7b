package journal

import (
	"fmt"
	"os"
)

// ProcessName returns the name of this process among those that work on a journal: its host
// and its process id.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %d", host, os.Getpid())
}

package elasticserver

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
)

// tailSize is how much of the output is kept in memory, in bytes.
const tailSize = 16 << 10

// console writes the output of the server to a file and keeps the end of it in memory.
type console struct {
	file *os.File

	mu   sync.Mutex
	last []byte // at most twice tailSize
}

func openConsole(path string) (*console, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("open the log of Elasticsearch: %w", err)
	}
	return &console{file: f}, nil
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.last = append(c.last, p...)
	if len(c.last) > 2*tailSize {
		c.last = bytes.Clone(c.last[len(c.last)-tailSize:])
	}
	c.mu.Unlock()
	return c.file.Write(p)
}

func (c *console) Close() error { return c.file.Close() }

// tail returns the last lines, without stack frames, which would leave no space for the
// reasons.
func (c *console) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	const most = 20
	var lines []string
	for line := range strings.Lines(string(c.last)) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

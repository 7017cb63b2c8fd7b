// Package logtest keeps what a program logs, so that a test can read it.
package logtest

import (
	"bytes"
	"strings"
	"sync"
)

// Buffer keeps what is written to it. Many goroutines may write and read at the same time.
// The zero value is empty and ready for use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns everything that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Count returns how often text was written.
func (b *Buffer) Count(text string) int { return strings.Count(b.String(), text) }

//go:build unix

package body

import "syscall"

// mapChunk returns an empty chunk of largeChunk bytes from the system, or from Go's heap
// where the system has none for it.
func mapChunk() []byte {
	chunk, err := syscall.Mmap(-1, 0, largeChunk, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, 0, largeChunk)
	}
	return chunk[:0]
}

// unmapChunk gives a chunk back. Munmap leaves one from Go's heap alone.
func unmapChunk(chunk []byte) { _ = syscall.Munmap(chunk[:largeChunk]) }

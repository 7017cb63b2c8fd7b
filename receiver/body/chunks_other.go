//go:build !unix

package body

func mapChunk() []byte { return make([]byte, 0, largeChunk) }

func unmapChunk([]byte) {}

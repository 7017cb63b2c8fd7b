//go:build !unix

package receiver

func mapChunk() []byte { return make([]byte, 0, largeChunk) }

func unmapChunk([]byte) {}

//go:build !unix

package main

func (k *checker) machine() {}

func openFiles() uint64 { return 3 * maxConnections }

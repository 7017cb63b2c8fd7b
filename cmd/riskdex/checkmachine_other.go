//go:build !unix

package main

func (k *checker) machine() {}

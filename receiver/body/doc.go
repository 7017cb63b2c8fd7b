// Package body reads the bodies of requests within bounds of size, pace and memory.
//
//	budget.go  the memory that all bodies share, and who has to give some up
//	hold.go    memory for bodies that do not come from a request
//	reader.go  one body: as it was sent, then decompressed
//	pace.go    the least pace at which a body has to arrive
//	gunzip.go  gzip, and nothing after it
//	chunks.go  a body while its length is not known
//
// A request with a body of 16 KiB or less takes nothing from the budget, so small deliveries never
// wait for large ones.
package body

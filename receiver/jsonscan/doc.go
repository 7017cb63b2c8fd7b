// Package jsonscan checks JSON as strictly as Elasticsearch does, and finds values in it
// without decoding or copying them.
//
//	check.go   what is accepted
//	values.go  members, elements and what a JSON pointer leads to, as parts of the input
//	cursor.go  the scan that these rest on
//
// All functions but Check expect JSON that Check has accepted. Given anything else, they
// return nonsense, but they return. They may be called concurrently. What they return
// shares the memory of the input.
package jsonscan

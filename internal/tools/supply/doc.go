// Package supply has the tests of what riskdex is made of and how it is built: the same
// source makes the same program, the program says what it was built from, and every
// dependency is accounted for.
package supply

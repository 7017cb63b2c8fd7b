// Package supply has the tests of what riskdex is made of and how it is built:
// that the same source makes the same program, that the program says what it was
// built from, and that every dependency is accounted for.
package supply

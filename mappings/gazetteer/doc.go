// Package gazetteer has cities and countries of the world: what they are called, in every
// script, where they are, and how many people live there. README.md says where the tables
// are from.
//
// [Builtin] reads the tables that are part of the program, [Load] reads others. Nothing is
// guessed: [Gazetteer.City] returns a city only if no other can be meant by what a report
// says about itself.
package gazetteer

//go:generate go run riskdex/internal/tools/gazetteer ../../internal/tools/gazetteer .

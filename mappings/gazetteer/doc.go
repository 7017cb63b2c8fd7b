// Package gazetteer knows cities and countries of the world: what they are called, in
// every script, where they are, and how many people live there. README.md says where
// the tables are from.
//
// [Builtin] has the tables that are part of the program, [Parse] reads others. Nothing
// is known by guessing: [Gazetteer.City] returns a city only where what a report says
// of itself leaves one that can be meant.
package gazetteer

//go:generate go run riskdex/internal/gazetteer ../../internal/gazetteer .

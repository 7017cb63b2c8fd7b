//go:build race

package main

// raceDetector tells that riskdex runs with the race detector, which multiplies
// its memory.
const raceDetector = true

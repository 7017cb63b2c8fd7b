//go:build race

package main

// raceDetector says whether riskdex runs with the race detector, which multiplies its memory.
const raceDetector = true

package indexer

import (
	"sync"

	"riskdex/report"
)

// statusRegistry has the state of rebuilds and of waiting indices, for readers outside the
// dispatcher.
type statusRegistry struct {
	mu        sync.Mutex
	rebuilds  map[report.Kind]report.Rebuild
	waiting   map[report.Kind]report.Waiting
	wrong     map[report.Kind]report.WrongAlias
	away      *journalAway                  // nil while the journal answers
	unchecked map[report.Kind]chan struct{} // of kinds whose index has not been checked; closed after the first check
}

func newStatusRegistry() *statusRegistry {
	s := &statusRegistry{rebuilds: map[report.Kind]report.Rebuild{}, waiting: map[report.Kind]report.Waiting{}, wrong: map[report.Kind]report.WrongAlias{}, unchecked: map[report.Kind]chan struct{}{}}
	for _, kind := range report.AllKinds() {
		s.unchecked[kind] = make(chan struct{})
	}
	return s
}

// setRebuild replaces the rebuild of a kind, and returns the one before.
func (s *statusRegistry) setRebuild(r report.Rebuild) (before report.Rebuild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.rebuilds[r.Kind]
	s.rebuilds[r.Kind] = r
	return before
}

// allRebuilds returns the rebuilds of content, in the order of the kinds.
func (s *statusRegistry) allRebuilds() []report.Rebuild {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inOrder(report.Kinds(), s.rebuilds)
}

// inOrder returns the values of kinds, as far as there are any.
func inOrder[T any](kinds []report.Kind, of map[report.Kind]T) (all []T) {
	for _, kind := range kinds {
		if one, ok := of[kind]; ok {
			all = append(all, one)
		}
	}
	return all
}

package indexer

import (
	"sync"

	"riskdex/report"
)

// statusRegistry is where the dispatcher shows how far rebuilds are, and what waits.
type statusRegistry struct {
	mu        sync.Mutex
	rebuilds  map[report.Kind]report.Rebuild
	waiting   map[report.Kind]report.Waiting
	unchecked map[report.Kind]chan struct{} // of the kinds whose index was not checked yet; closed once it was
}

func newStatusRegistry() *statusRegistry {
	s := &statusRegistry{rebuilds: map[report.Kind]report.Rebuild{}, waiting: map[report.Kind]report.Waiting{}, unchecked: map[report.Kind]chan struct{}{}}
	for _, kind := range report.AllKinds() {
		s.unchecked[kind] = make(chan struct{})
	}
	return s
}

// setRebuild replaces what is shown for a kind, and returns what was.
func (s *statusRegistry) setRebuild(r report.Rebuild) (before report.Rebuild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.rebuilds[r.Kind]
	s.rebuilds[r.Kind] = r
	return before
}

// allRebuilds returns what is shown of content, in the order of the kinds.
func (s *statusRegistry) allRebuilds() []report.Rebuild {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []report.Rebuild
	for _, kind := range report.Kinds() {
		if r, ok := s.rebuilds[kind]; ok {
			all = append(all, r)
		}
	}
	return all
}

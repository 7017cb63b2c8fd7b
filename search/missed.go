package search

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// mostMissed bounds the searches that Missed keeps. The one that was made longest ago gives way.
const mostMissed = 1000

// Missed keeps the words of searches that found nothing, in memory alone: people may type anything.
// Nil keeps none.
type Missed struct {
	mu  sync.Mutex
	all map[string]Miss
}

// Miss is what was searched for in vain.
type Miss struct {
	Words    string    `json:"words"`
	Searches int       `json:"searches"`
	Last     time.Time `json:"last"`
}

// Note notes a search without a hit.
func (m *Missed) Note(words string, at time.Time) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]Miss{}
	}
	words = beginning(words)
	miss, known := m.all[words]
	if !known && len(m.all) == mostMissed {
		oldest := ""
		for words, other := range m.all {
			if oldest == "" || other.Last.Before(m.all[oldest].Last) {
				oldest = words
			}
		}
		delete(m.all, oldest)
	}
	m.all[words] = Miss{words, miss.Searches + 1, at}
}

// List returns what is kept, the most frequent first.
func (m *Missed) List() []Miss {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []Miss{}
	for _, miss := range m.all {
		list = append(list, miss)
	}
	slices.SortFunc(list, func(a, b Miss) int {
		return cmp.Or(b.Searches-a.Searches, b.Last.Compare(a.Last), cmp.Compare(a.Words, b.Words))
	})
	return list
}

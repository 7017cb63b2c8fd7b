package postgres

import "testing"

// The protocol of claims between two processes, with one document and three deliveries of
// it, as a model with few enough states to visit all of them. The steps correspond to the
// engine as follows:
//
//	deliver           Append: the row has a new version, and keeps its claim
//	claim, claimLost  takeClaims, whose answer arrives or not
//	release           the next Claim after that: Journal.giveBackClaims
//	send, arrive      a bulk of the indexer, which the network may delay for long;
//	                  the index accepts by external versions
//	settle, retry     transaction.settleOne and store.unclaim
//	pause, resume     SIGSTOP, an overloaded processor, a broken network
//	kill              the process ends and never comes back
//	reap, register    Journal.reap by the other one, and Journal.renewLease of this one
//	crash             the server restarts: claims and settlements that were not yet
//	                  on its disk are undone, deliveries are not

const (
	deliveries = 3
	lastLife   = 1 // how often a process may be registered again
)

// situation is one state. Processes have the ids 1 and 2 in their first lives, and 3 and
// 4 in their second ones.
type situation struct {
	version, claimed uint8 // of the row
	holder           int8  // 0 nobody, -1 a process that was taken for dead
	done             bool
	index            uint8
	crashed          bool
	transit          uint8 // a bit for each version that is on its way to the index
	p                [2]actor
}

type actor struct {
	life         int8
	member       bool
	paused, dead bool
	hand         uint8 // the version that it has claimed and not settled
	sent         bool
	uncertain    bool
}

func (s *situation) id(i int) int8 { return int8(i) + 1 + 2*s.p[i].life }

// protections are what the protocol relies on. The test removes each of them once.
type protections struct {
	external bool // the index refuses an older version
	foreign  bool // a settlement without the claim is ignored
	reaping  bool
	release  bool
}

// steps returns everything that may happen next, and names a promise that a step breaks.
func (s situation) steps(has protections) (next []situation, broken string) {
	add := func(change func(*situation)) {
		n := s
		change(&n)
		next = append(next, n)
	}
	if s.version < deliveries {
		add(func(n *situation) {
			n.version++
			n.done = false
		})
	}
	for v := uint8(1); v <= deliveries; v++ {
		if s.transit&(1<<v) != 0 {
			add(func(n *situation) {
				n.transit &^= 1 << v
				if v > n.index || !has.external {
					n.index = v
				}
			})
		}
	}
	if !s.crashed {
		add(func(n *situation) { n.crashed, n.holder, n.claimed = true, 0, 0 })
		if s.done {
			add(func(n *situation) { n.crashed, n.done = true, false })
		}
	}
	for i := range s.p {
		a, me := s.p[i], s.id(i)
		if a.dead || a.paused {
			if a.paused {
				add(func(n *situation) { n.p[i].paused = false })
			}
		} else {
			if a.life == 0 {
				add(func(n *situation) { n.p[i].paused = true })
			}
			if i == 0 {
				add(func(n *situation) { n.p[i].dead, n.p[i].paused = true, false })
			}
			if !a.member && a.life < lastLife {
				add(func(n *situation) { n.p[i].member = true; n.p[i].life++ })
			}
			if a.uncertain && has.release {
				add(func(n *situation) {
					n.p[i].uncertain = false
					if n.holder == me {
						n.holder, n.claimed = 0, 0
					}
				})
			}
			free := s.holder <= 0 || s.claimed == 0
			if a.member && a.hand == 0 && (!a.uncertain || !has.release) && !s.done && s.version > 0 && free {
				claim := func(n *situation) { n.holder, n.claimed = me, n.version }
				add(func(n *situation) { claim(n); n.p[i].hand = n.version })
				if !s.crashed {
					add(func(n *situation) { claim(n); n.p[i].uncertain = true; n.crashed = true }) // once is enough
				}
			}
			if a.hand != 0 && !a.sent {
				add(func(n *situation) { n.p[i].sent = true; n.transit |= 1 << a.hand })
			}
			if a.hand != 0 && a.sent {
				ends := []bool{false} // a retry, with the request still on its way or not
				if s.index >= a.hand || s.transit&(1<<a.hand) == 0 {
					ends = append(ends, true)
				}
				for _, indexed := range ends {
					n := s
					n.settle(i, indexed, has)
					other := s.holder > 0 && s.holder != me && s.claimed != 0
					if other && n.holder != s.holder && !n.done {
						broken = "one process ends the claim of another"
					}
					next = append(next, n)
				}
			}
		}
		// It misses its heartbeats, and the other takes it for dead, rightly or not.
		other := s.p[1-i]
		if has.reaping && a.member && (a.dead || a.paused) && !other.dead && !other.paused && other.member {
			add(func(n *situation) {
				n.p[i].member = false
				if n.holder == me {
					n.holder, n.claimed = -1, 0
				}
			})
		}
	}
	if s.done && s.index < s.version {
		broken = "it is settled, and the index has an older version"
	}
	return next, broken
}

func (s *situation) settle(i int, indexed bool, has protections) {
	a, me := &s.p[i], s.id(i)
	hand := a.hand
	a.hand, a.sent = 0, false
	foreign := s.holder < 0 || s.claimed != 0 && s.holder != me
	if foreign && has.foreign {
		return
	}
	if indexed && hand == s.version {
		s.done = true
	}
	if s.claimed == hand && (s.holder == me || !has.foreign) {
		s.holder, s.claimed = 0, 0
	}
}

// over reports whether everything delivered has arrived.
func (s situation) over() bool {
	return s.version == deliveries && s.done && s.index == deliveries && s.transit == 0
}

// explore visits every possible state. It returns how many there are, and the first
// promise that is broken.
func explore(has protections) (states int, broken string) {
	start := situation{p: [2]actor{{member: true}, {member: true}}}
	number := map[situation]int{start: 0}
	all, before := []situation{start}, [][]int{nil}
	for at := 0; at < len(all); at++ {
		next, wrong := all[at].steps(has)
		if wrong != "" {
			return len(all), wrong
		}
		for _, n := range next {
			to, known := number[n]
			if !known {
				to = len(all)
				number[n] = to
				all, before = append(all, n), append(before, nil)
			}
			before[to] = append(before[to], at)
		}
	}
	// From every state there must be a way to the end: a state that is not found
	// backwards from there is stuck.
	arrives := make([]bool, len(all))
	var from []int
	for i, s := range all {
		if s.over() {
			arrives[i] = true
			from = append(from, i)
		}
	}
	for len(from) > 0 {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		for _, b := range before[i] {
			if !arrives[b] {
				arrives[b] = true
				from = append(from, b)
			}
		}
	}
	for i := range all {
		if !arrives[i] {
			return len(all), "it never arrives"
		}
	}
	return len(all), ""
}

// TestPostgresProtocol visits every state of two processes, and shows that each
// protection is needed.
func TestPostgresProtocol(t *testing.T) {
	all := protections{external: true, foreign: true, reaping: true, release: true}
	states, broken := explore(all)
	if broken != "" {
		t.Errorf("of %d states: %s", states, broken)
	}
	t.Logf("%d states", states)
	for name, out := range map[string]func(*protections){
		"external versions": func(p *protections) { p.external = false },
		"foreign claims":    func(p *protections) { p.foreign = false },
		"reaping":           func(p *protections) { p.reaping = false },
		"lost answers":      func(p *protections) { p.release = false },
	} {
		has := all
		out(&has)
		if _, broken := explore(has); broken == "" {
			t.Errorf("without %s no promise is broken", name)
		} else {
			t.Logf("without %s: %s", name, broken)
		}
	}
}

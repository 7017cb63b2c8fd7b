package mappings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// reading is how the records of a kind are read, and the samples of them that this was told by.
type reading struct {
	stated *kindMapping // by the mapping files
	keep   fieldBits    // fields about which an operator's file says something
	byName bool         // records may be read by what they have, not by pointers alone

	used atomic.Pointer[shapes] // what documents are made by

	mu        sync.Mutex
	hash      string
	told      string // the inferred mappings of its shapes, as JSON; empty if there is none
	shapes    []*shape
	strangers sample // records that are of no shape, or miss something of theirs
	tried     int    // how many strangers made no shape
	began     bool   // documents of the kind may have been made
}

// Found is a column that fills a field, and why.
type Found struct {
	Field   string
	Pointer jsontext.Pointer
	Records int    // of the sample that have it
	Why     string // what tells
}

const (
	fewestRecords = 5   // that tell anything
	grown         = 10  // times as many records tell more
	sampleRecords = 400 // that are kept of a kind, until there are as many
	sampleBytes   = 8 << 20
	sampleBody    = 256 << 10 // bytes of the largest record that is kept
)

// shapes returns what documents of a kind are made by, or nil.
func (s *Set) shapes(kind report.Kind) *shapes {
	r := s.kinds[kind]
	if r == nil {
		return nil
	}
	return r.used.Load()
}

// Hash identifies what the index and the documents of a kind are made from.
func (s *Set) Hash(kind report.Kind) string {
	r := s.kinds[kind]
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hash
}

// use has documents made by the mappings of shapes, which told says as JSON, or by what the mapping files
// state if there are none. The caller holds the lock.
func (s *Set) use(kind report.Kind, r *reading, all []*shape, told string) error {
	hash, err := s.hashOf(r.stated, told)
	if err != nil {
		return fmt.Errorf("computing the hash of the mapping of %s: %w", kind, err)
	}
	r.hash, r.told = hash, told
	r.have(all)
	return nil
}

// have has documents made by the mappings of shapes.
func (r *reading) have(all []*shape) {
	r.shapes = all
	now := &shapes{stated: r.stated}
	for _, of := range all {
		if of.used = r.stated; of.told != nil {
			of.used = of.told.over(r.stated, r.keep)
		}
		of := *of // which changes later
		of.sample = sample{}
		now.all = append(now.all, &of)
	}
	r.used.Store(now)
}

// Use has the records of a kind read as told says, which See has returned, perhaps in another process.
// Empty, it changes nothing.
func (s *Set) Use(kind report.Kind, told string) error {
	r := s.kinds[kind]
	if r == nil || !r.byName || told == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if told == r.told {
		return nil
	}
	all, err := parseShapes([]byte(told))
	if err == nil {
		err = s.use(kind, r, all, told)
	}
	if err != nil {
		return fmt.Errorf("reading how the records of %s are read: %w", kind, err)
	}
	r.strangers, r.tried = sample{}, 0
	return nil
}

// See looks at changes of a kind before their documents are made. If infer is set and they, with those
// before them, tell that records are better read in another way, they are read so from now on, and See returns
// how, to be kept and given to Use after a restart. The index that was filled until now should then be
// rebuilt, unless first says that no document of the kind was made before.
//
// The same records tell the same, in whatever order they come.
func (s *Set) See(kind report.Kind, changes []report.Change, infer bool) (told string, first bool) {
	r := s.kinds[kind]
	if r == nil || !r.byName {
		return "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first, r.began = !r.began, r.began || len(changes) > 0
	x := s.take()
	defer s.give(x)
	for _, c := range changes {
		if c.Op == report.Index && len(c.Body) <= sampleBody {
			x.sort(r, c)
		}
	}
	if !infer {
		return "", false
	}
	better := false
	for _, of := range r.shapes {
		if n := len(of.sample.records); n >= grown*of.tried || n >= sampleRecords {
			better = s.infersBetter(kind, r, of) || better
		}
	}
	if n := len(r.strangers.records); n >= r.tried+fewestRecords && len(r.shapes) < maxShapes {
		better = s.newShapes(x, kind, r) || better
	}
	if !better {
		return "", false
	}
	text, err := shapesText(r.shapes)
	if err != nil {
		return "", false
	}
	all, err := parseShapes(text) // as every other process will read it
	if err != nil {
		return "", false
	}
	for i, of := range all {
		of.sample, of.tried = r.shapes[i].sample, r.shapes[i].tried
	}
	if s.use(kind, r, all, string(text)) != nil {
		return "", false
	}
	return r.told, first
}

// sort puts the record of a change in the sample of its shape, or among the strangers.
func (x *extractor) sort(r *reading, c report.Change) {
	if x.tree.parse(c.Body) != nil {
		return
	}
	x.mapping = r.stated
	x.findRoots()
	x.names = x.appendNames(x.names[:0])
	switch of := nearest(r.shapes, x.names); {
	case of == nil || of.misses(x.names):
		r.strangers.add(string(c.ID), c.Body)
	case of.tried < sampleRecords:
		of.sample.add(string(c.ID), c.Body)
	}
}

// newShapes makes shapes of strangers, and reports whether one of them is read better than before.
func (s *Set) newShapes(x *extractor, kind report.Kind, r *reading) (better bool) {
	names := make([][]string, len(r.strangers.records))
	for i, of := range r.strangers.records {
		names[i] = x.namesOf(r.stated, of.body)
	}
	left := slices.Clone(r.strangers.records)
	for _, group := range groups(names) {
		of := new(shape)
		if len(r.shapes) == maxShapes {
			break
		}
		for _, i := range group {
			of.sample.insert(r.strangers.records[i])
			left[i].body = nil
		}
		first := r.strangers.records[group[0]].body
		if x.tree.parse(first) == nil {
			if x.open(r.used.Load()); x.near != nil {
				of.told = x.near.told // what reads them until now
			}
		}
		r.shapes = append(r.shapes, of)
		better = s.infersBetter(kind, r, of) || better
	}
	r.strangers = sample{}
	for _, of := range left {
		if of.body != nil {
			r.strangers.insert(of)
		}
	}
	r.tried = len(r.strangers.records)
	return better
}

// infersBetter infers how the sample of a shape is read, and reports whether it is clearly better than before,
// and read so from now on.
func (s *Set) infersBetter(kind report.Kind, r *reading, of *shape) bool {
	records := of.sample.bodies()
	of.tried = len(records)
	inferred := s.infer(kind, r.stated, records, nil)
	x := s.take()
	names := make([][]string, len(records))
	for i, record := range records {
		names[i] = x.namesOf(r.stated, record)
	}
	s.give(x)
	of.setNames(names)
	if of.tried >= sampleRecords {
		of.sample = sample{}
	}
	before := s.fieldsOf(kind, r.used.Load(), records, false)
	compared := func() (better, fills bool, losing fieldBits) {
		after := s.fieldsOf(kind, &shapes{stated: r.stated, all: []*shape{{used: inferred.over(r.stated, r.keep)}}}, records, false)
		if better, fills, losing = compare(before, after); losing != 0 { // what only names led to is no longer read in any case
			_, _, losing = compare(s.fieldsOf(kind, r.used.Load(), records, true), after)
		}
		return better, fills, losing
	}
	better, _, losing := compared()
	if losing != 0 { // these stay as they are, and what only has other values is no gain that is worth it
		inferred.drop(losing)
		_, better, losing = compared()
	}
	if better = better && losing&inferred.over(new(kindMapping), 0).told == 0; better {
		of.told = inferred
		r.have(r.shapes) // else what is noted holds: a new shape, or its names, would take records from others
	}
	return better
}

// shapesText writes how shapes are read.
func shapesText(all []*shape) ([]byte, error) {
	var told []*kindMapping
	for _, of := range all {
		m := &kindMapping{About: aboutInferred}
		if of.told != nil {
			all := *of.told
			m = &all
		}
		m.Inferred = &inferredFrom{Records: of.records, Names: of.names}
		told = append(told, m)
	}
	return json.Marshal(told, json.Deterministic(true))
}

// parseShapes reads what shapesText writes.
func parseShapes(text []byte) (all []*shape, err error) {
	var told []jsontext.Value
	if err := json.Unmarshal(text, &told); err != nil {
		return nil, err
	}
	for _, of := range told {
		m, err := parseKind(of)
		if err != nil {
			return nil, err
		}
		if m.Inferred == nil {
			return nil, errors.New("a mapping does not say what it was inferred from")
		}
		s := &shape{records: m.Inferred.Records, names: m.Inferred.Names, tried: m.Inferred.Records}
		if m.over(new(kindMapping), 0).told != 0 {
			s.told = m
		}
		s.index()
		all = append(all, s)
	}
	return all, nil
}

// infer infers a mapping from records. look, unless it is nil, is shown what tells it.
func (s *Set) infer(kind report.Kind, stated *kindMapping, records [][]byte, look func(*inference)) *kindMapping {
	x := s.take()
	defer s.give(x)
	in := x.infer(kind, stated, records)
	if look != nil {
		look(in)
	}
	return in.mapping
}

// Infer returns s with the mapping of one kind that the values of its records tell, and which columns fill
// which fields. Fields of which they tell nothing are read as s does.
func (s *Set) Infer(kind report.Kind, records [][]byte) (*Set, []Found, error) {
	t := s.copied()
	var all []Found
	m := s.infer(kind, s.kinds[kind].stated, records, func(in *inference) { all = in.findings })
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, nil, err
	}
	if m, err = parseKind(text); err != nil {
		return nil, nil, err
	}
	if err := t.use(kind, t.kinds[kind], []*shape{{told: m}}, string(text)); err != nil {
		return nil, nil, err
	}
	return t, all, nil
}

// copied returns a Set that reads as s does now, and by itself from then on.
func (s *Set) copied() *Set {
	t := &Set{index: s.index, bodies: s.bodies, countries: s.countries, threats: s.threats, gazetteer: s.gazetteer, kinds: map[report.Kind]*reading{}}
	t.extractors.New = s.extractors.New
	for of, r := range s.kinds {
		t.kinds[of] = &reading{stated: r.stated, keep: r.keep, byName: r.byName, hash: r.hash, told: r.told}
		t.kinds[of].used.Store(r.used.Load())
	}
	return t
}

// compare reports whether what is read of records is clearly more than what was: in a tenth of them a field
// that was empty, or had another value; whether it fills a field in as many that was empty; and which fields
// are empty in a twentieth that were not. Threats may be fewer, and more of them fill nothing: what a record
// rates is more certain than what its words mention.
func compare(before, after []map[string]string) (better, fills bool, losing fieldBits) {
	gained, lost, filled := map[string]int{}, map[string]int{}, map[string]int{}
	for i, of := range after {
		for name, value := range of {
			if was := before[i][name]; was != value {
				gained[name]++
				if was == "" && name != "threats" {
					filled[name]++
				}
			}
		}
		for name := range before[i] {
			if _, has := of[name]; !has {
				lost[name]++
			}
		}
	}
	for name, n := range gained {
		better, fills = better || 10*n >= len(after), fills || 10*filled[name] >= len(after)
		lost[name] -= n
	}
	for name, n := range lost {
		if name != "threats" && 20*n > len(after) {
			losing.add(fieldNamed(name))
		}
	}
	return better, fills, losing
}

// fieldsOf returns what is read of each record for the fields that a column fills, perhaps by pointers only.
func (s *Set) fieldsOf(kind report.Kind, by *shapes, records [][]byte, pointersOnly bool) []map[string]string {
	x := s.take()
	defer s.give(x)
	x.pointersOnly = pointersOnly
	fields := make([]map[string]string, len(records))
	for i, record := range records {
		if x.tree.parse(record) != nil {
			continue
		}
		x.open(by)
		x.dst, x.unfit = nil, nil
		x.document(report.Change{Key: report.Key{Kind: kind, ID: "1"}, Op: report.Index, Body: []byte("{}")})
		var all map[string]jsontext.Value
		if json.Unmarshal(x.dst, &all) != nil {
			continue
		}
		fields[i] = map[string]string{}
		for _, name := range []string{"code", "title", "names", "country", "risk_level", "airports", "location", "starts_at", "ends_at", "published_at", "updated_at", "threats", "places"} {
			if v, ok := all[name]; ok {
				fields[i][name] = string(v)
			}
		}
	}
	return fields
}

// sample keeps some of the records of a kind: those whose ids have the smallest hashes, so that which they
// are does not depend on the order in which they come.
type sample struct {
	records []sampled // sorted by hash
	bytes   int
}

type sampled struct {
	hash uint64
	body []byte
}

// add notes the newest version of a record.
func (s *sample) add(id string, body []byte) {
	h := fnv1a(id)
	at, found := slices.BinarySearchFunc(s.records, h, func(r sampled, h uint64) int { return cmp.Compare(r.hash, h) })
	if found {
		s.bytes -= len(s.records[at].body)
		s.records = slices.Delete(s.records, at, at+1)
	} else if at == sampleRecords {
		return
	}
	s.insert(sampled{h, slices.Clone(body)})
}

// insert adds a record that is not in the sample.
func (s *sample) insert(r sampled) {
	at, _ := slices.BinarySearchFunc(s.records, r.hash, func(r sampled, h uint64) int { return cmp.Compare(r.hash, h) })
	s.records = slices.Insert(s.records, at, r)
	s.bytes += len(r.body)
	for len(s.records) > sampleRecords || s.bytes > sampleBytes && len(s.records) > 1 {
		last := len(s.records) - 1
		s.bytes -= len(s.records[last].body)
		s.records = slices.Delete(s.records, last, last+1)
	}
}

func (s *sample) bodies() [][]byte {
	all := make([][]byte, len(s.records))
	for i, r := range s.records {
		all[i] = r.body
	}
	return all
}

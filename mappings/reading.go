package mappings

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// reading is how the records of a kind are read, and the sample of them that this was told by.
type reading struct {
	stated *kindMapping // by the mapping files
	keep   fieldBits    // fields about which an operator's file says something
	byName bool         // records may be read by what they have, not by pointers alone

	used atomic.Pointer[kindMapping] // what documents are made by

	mu      sync.Mutex
	hash    string
	told    string // the inferred mapping, as JSON; empty if there is none
	records int    // that it was inferred from, or was not worth it; 0 if nothing was tried
	sample  sample
	began   bool // documents of the kind may have been made
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

// mapping returns what documents of a kind are made by, or nil.
func (s *Set) mapping(kind report.Kind) *kindMapping {
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

// use has documents made by an inferred mapping, or by what the mapping files state if it is nil. The caller
// holds the lock.
func (s *Set) use(kind report.Kind, r *reading, inferred *kindMapping, told string) error {
	used := r.stated
	if inferred != nil {
		used = inferred.over(r.stated, r.keep)
	}
	hash, err := s.hashOf(used, told)
	if err != nil {
		return fmt.Errorf("computing the hash of the mapping of %s: %w", kind, err)
	}
	r.used.Store(used)
	r.hash, r.told = hash, told
	if inferred != nil {
		r.records = inferred.Inferred.Records
	}
	return nil
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
	m, err := parseKind([]byte(told))
	if err != nil || m.Inferred == nil {
		return fmt.Errorf("reading how the records of %s are read: %w", kind, err)
	}
	return s.use(kind, r, m, told)
}

// See looks at changes of a kind before their documents are made. If infer is set and they, with those
// before them, tell that the kind is better read in another way, it is read so from now on, and See returns
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
	if r.records >= sampleRecords {
		r.sample = sample{}
		return "", false
	}
	first, r.began = !r.began, r.began || len(changes) > 0
	for _, c := range changes {
		if c.Op == report.Index && len(c.Body) <= sampleBody {
			r.sample.add(string(c.ID), c.Body)
		}
	}
	n := len(r.sample.records)
	if !infer || n < fewestRecords || r.records > 0 && n < sampleRecords && n < grown*r.records {
		return "", false
	}
	records := r.sample.bodies()
	inferred, _ := s.infer(kind, r.stated, records)
	r.records = n
	text, err := json.Marshal(inferred, json.Deterministic(true))
	if err != nil || string(text) == r.told || !s.isBetter(kind, r.used.Load(), inferred.over(r.stated, r.keep), records) {
		return "", false
	}
	if m, err := parseKind(text); err != nil || s.use(kind, r, m, string(text)) != nil {
		return "", false
	}
	return r.told, first
}

// infer infers a mapping from records.
func (s *Set) infer(kind report.Kind, stated *kindMapping, records [][]byte) (*kindMapping, []finding) {
	x := s.extractors.Get().(*extractor)
	defer func() {
		x.release()
		s.extractors.Put(x)
	}()
	var others []otherScale
	for _, of := range report.Kinds() {
		if m := s.mapping(of); of != kind && m.levelOf != nil && len(m.Fields.RiskLevel) > 0 {
			others = append(others, otherScale{m.levelOf, m.Fields.RiskLevel[0].text})
		}
	}
	return x.infer(kind, stated, others, records)
}

// Infer returns s with the mapping of one kind that the values of its records tell, and which columns fill
// which fields. Fields of which they tell nothing are read as s does.
func (s *Set) Infer(kind report.Kind, records [][]byte) (*Set, []Found, error) {
	t := &Set{index: s.index, search: s.search, complete: s.complete, countries: s.countries, threats: s.threats, gazetteer: s.gazetteer, kinds: map[report.Kind]*reading{}}
	t.extractors.New = s.extractors.New
	for of, r := range s.kinds {
		t.kinds[of] = &reading{stated: r.stated, keep: r.keep, byName: r.byName, hash: r.hash, told: r.told}
		t.kinds[of].used.Store(r.used.Load())
	}
	m, findings := s.infer(kind, s.kinds[kind].stated, records)
	text, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, nil, err
	}
	if m, err = parseKind(text); err != nil {
		return nil, nil, err
	}
	if err := t.use(kind, t.kinds[kind], m, string(text)); err != nil {
		return nil, nil, err
	}
	var all []Found
	for _, f := range findings {
		all = append(all, Found{f.field, f.column.pointer(), f.column.records, f.why})
	}
	return t, all, nil
}

// isBetter reports whether a mapping finds clearly more in records than another one: in a tenth of them a
// field that was empty, or had another value, and no field is empty in a twentieth that was not. Threats may
// be fewer: what a record rates is more certain than what its words mention.
func (s *Set) isBetter(kind report.Kind, old, new *kindMapping, records [][]byte) bool {
	gained, lost := map[string]int{}, map[string]int{}
	for _, record := range records {
		before, after := s.fieldsOf(kind, old, record), s.fieldsOf(kind, new, record)
		for name, value := range after {
			if before[name] != value {
				gained[name]++
			}
		}
		for name := range before {
			if _, has := after[name]; !has {
				lost[name]++
			}
		}
	}
	better := false
	for name, n := range gained {
		better = better || 10*n >= len(records)
		lost[name] -= n
	}
	for name, n := range lost {
		if name != "threats" && 20*n > len(records) {
			return false
		}
	}
	return better
}

// fieldsOf returns what a mapping reads of a record for the fields that a column fills.
func (s *Set) fieldsOf(kind report.Kind, m *kindMapping, record []byte) map[string]string {
	x := s.extractors.Get().(*extractor)
	defer func() {
		x.release()
		s.extractors.Put(x)
	}()
	if x.tree.parse(record) != nil {
		return nil
	}
	if m.Inferred != nil {
		x.enrich()
	}
	x.mapping, x.dst, x.unfit = m, nil, nil
	x.document(report.Change{Key: report.Key{Kind: kind, ID: "1"}, Op: report.Index, Body: []byte("{}")})
	var all map[string]jsontext.Value
	if json.Unmarshal(x.dst, &all) != nil {
		return nil
	}
	fields := map[string]string{}
	for _, name := range []string{"code", "title", "names", "country", "risk_level", "airports", "location", "starts_at", "ends_at", "published_at", "updated_at", "threats", "places"} {
		if v, ok := all[name]; ok {
			fields[name] = string(v)
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
	sum := fnv.New64a() // the same in every process
	_, _ = io.WriteString(sum, id)
	h := sum.Sum64()
	at, found := slices.BinarySearchFunc(s.records, h, func(r sampled, h uint64) int { return cmp.Compare(r.hash, h) })
	if found {
		s.bytes += len(body) - len(s.records[at].body)
		s.records[at].body = slices.Clone(body)
	} else if at < sampleRecords {
		s.records = slices.Insert(s.records, at, sampled{h, slices.Clone(body)})
		s.bytes += len(body)
	}
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

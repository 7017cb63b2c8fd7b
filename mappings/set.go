package mappings

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/language"
	"riskdex/report"
	"riskdex/search"
)

//go:embed *.json
var builtin embed.FS

// Set holds everything that riskdex knows about its documents: for every kind, where the
// fields come from; how an index is made; how it is searched. Only [Set.See] and [Set.Use] change it:
// how the records of a kind are read. It is safe for concurrent use.
type Set struct {
	kinds      map[report.Kind]*reading
	index      indexFile
	bodies     search.Bodies
	countries  countriesFile
	threats    *threatsFile
	gazetteer  string
	extractors sync.Pool // of *extractor
}

// Files returns the mapping files that are part of the program.
func Files() fs.FS { return builtin }

// Builtin returns the mappings that are part of the program.
func Builtin() (*Set, error) { return Load(builtin) }

// Load is LoadKnowing with the built-in gazetteer.
func Load(folder fs.FS) (*Set, error) { return LoadKnowing(folder, Gazetteer{}) }

// LoadKnowing reads mappings from a folder that has index.json, search.json, complete.json,
// countries.json, threats.json and a file for every kind but the probe, such as
// cities.json. If any of them is wrong, the error is [Mistakes] with everything that is
// wrong in them. An operator's gazetteer is read at once as well.
func LoadKnowing(folder fs.FS, from Gazetteer) (*Set, error) {
	s := &Set{kinds: make(map[report.Kind]*reading)}
	kinds := make(map[report.Kind]*kindMapping)
	var wrong Mistakes
	for _, kind := range report.Kinds() {
		kinds[kind] = read(folder, string(kind)+".json", parseKind, &wrong)
	}
	s.index = read(folder, "index.json", parseIndex, &wrong)
	s.bodies.Search = read(folder, "search.json", parseQuery, &wrong)
	s.bodies.Complete = read(folder, "complete.json", parseQuery, &wrong)
	s.countries = read(folder, "countries.json", parseCountries, &wrong)
	s.threats = read(folder, "threats.json", parseThreats, &wrong)
	if len(wrong) > 0 {
		return nil, wrong
	}
	s.bodies.Threats = s.Threats()
	world, gazetteer, err := s.countries.world(from)
	if err != nil {
		return nil, err
	}
	if s.index, err = s.index.filled(s.threats); err != nil {
		return nil, fmt.Errorf("filling the placeholders of index.json: %w", err)
	}
	s.bodies.Witness = s.newWitness(world)
	threats := newThreatWords(s.threats)
	languages, err := s.index.languages()
	if err != nil {
		return nil, fmt.Errorf("reading text_in in index.json: %w", err)
	}
	detector := language.New()
	words, boxes := vocabulary.New(), parseBoxes(boxesFile)
	for _, kind := range report.Kinds() {
		m := kinds[kind]
		byName := m.ReadNames == nil || *m.ReadNames
		base, err := builtinKind(kind)
		if err != nil {
			return nil, err
		}
		keep := m.differsFrom(base)
		if m.Inferred != nil {
			m = m.over(base, 0)
			keep = m.told
		}
		if byName {
			m.book = newPhrasebook(words, kind)
		}
		s.kinds[kind] = &reading{stated: m, keep: keep, byName: byName}
	}
	s.extractors.New = func() any {
		return &extractor{
			seen: make(map[string]struct{}), countryTable: s.countries, world: world, threatWords: threats, reader: newReader(words), boxes: boxes,
			textLanguages: languages, detector: detector, sizes: make(map[string]int), speech: make(map[uint32]spoken),
		}
	}
	s.gazetteer = gazetteer
	s.kinds[report.Probe] = &reading{stated: new(kindMapping)}
	for _, kind := range report.AllKinds() {
		if err := s.use(kind, s.kinds[kind], nil, ""); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// take returns an extractor that is free, until it is given back.
func (s *Set) take() *extractor { return s.extractors.Get().(*extractor) }

func (s *Set) give(x *extractor) {
	x.release()
	s.extractors.Put(x)
}

// builtinKind returns the mapping of a kind that is part of the program.
func builtinKind(kind report.Kind) (*kindMapping, error) {
	data, err := fs.ReadFile(builtin, string(kind)+".json")
	if err != nil {
		return nil, err
	}
	return parseKind(data)
}

// read reads one file. If anything is wrong with it, read adds that to wrong, and its
// result must not be used.
func read[T any](folder fs.FS, name string, parse func([]byte) (T, error), wrong *Mistakes) T {
	var nothing T
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		reason := "it cannot be read: " + err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "it is missing: `riskdex mappings export FOLDER` writes the built-in one, to be copied from there"
		}
		*wrong = append(*wrong, Mistake{File: name, Reason: reason})
		return nothing
	}
	parsed, err := parse(data)
	if err == nil {
		return parsed
	}
	several, ok := errors.AsType[Mistakes](err)
	if !ok {
		several = Mistakes{{Reason: err.Error()}}
	}
	for _, m := range several {
		m.File = name
		*wrong = append(*wrong, m)
	}
	return nothing
}

// ReadFile returns one of the mapping files that are part of the program.
func ReadFile(name string) ([]byte, error) { return fs.ReadFile(builtin, name) }

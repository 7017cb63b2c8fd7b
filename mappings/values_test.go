package mappings

import "testing"

// TestNameOf: a compound counts as what it ends with, and as one word that is not known.
func TestNameOf(t *testing.T) {
	s := builtinSet(t)
	x := s.extractors.Get().(*extractor)
	defer s.extractors.Put(x)
	cs := &columns{x: x}
	for name, c := range map[string]struct {
		want    string
		unknown int
	}{
		"Meldestufe": {"level", 1}, "farenivå": {"level", 1}, "FARENIVAA": {"level", 1}, "Uhrzeitangabe": {"date", 1}, "Risikostufe": {"risk level", 0},
		"report_Ausgabedatum": {"report date", 1}, "capacity": {"", 1}, "zzKopf": {"", 2}, "[label=Meldestufe]": {"level", 1},
	} {
		means, unknown := cs.nameOf(&column{name: name, parent: &column{}})
		if means != x.reader.vocabulary.Concepts(c.want) || unknown != c.unknown {
			t.Errorf("%s: %b, %d words unknown; want %s, %d", name, means, unknown, c.want, c.unknown)
		}
	}
}

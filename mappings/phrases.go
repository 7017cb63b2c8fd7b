package mappings

import (
	"math/bits"
	"slices"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// fieldID is a field that is looked for by the words of names if no pattern of the mapping
// file leads to a value.
type fieldID uint8

const (
	noField fieldID = iota
	codeField
	titleField
	namesField
	countryField
	riskLevelField
	riskLabelField
	airportsField
	placesField
	locationField
	summaryField
	threatsField
	startsField
	endsField
	publishedField
	updatedField
)

// fieldIDs are the names of the fields after noField.
var fieldIDs = [...]string{
	"code", "title", "names", "country", "risk_level", "risk_label", "airports", "places", "location", "summary", "threats", "starts_at",
	"ends_at", "published_at", "updated_at",
}

// fieldBits is a set of fields.
type fieldBits uint32

func (b *fieldBits) add(f fieldID) { *b |= 1 << f }

func (b fieldBits) has(f fieldID) bool { return b>>f&1 == 1 }

// phrase is what the words of a name must mean for its value to belong to a field.
type phrase struct {
	field fieldID
	need  vocabulary.Concepts
	allow vocabulary.Concepts // may be meant as well; a name that means anything else belongs elsewhere
	rank  int                 // lower ones come first
}

// hit is a field that a value may belong to.
type hit struct {
	field fieldID
	rank  int
}

// phrasebook has the phrases of one kind.
type phrasebook struct {
	phrases      []phrase
	own          vocabulary.Concepts // what a record of this kind is called
	place        vocabulary.Concepts // what names on the way to a latitude may mean
	formats      vocabulary.Concepts // what the type of a document may mean
	singlePlaces bool                // a place by itself is one of the places; in a city report it is the city
}

// newPhrasebook returns the phrases for records of kind. For each field, better ones come
// first.
func newPhrasebook(v *vocabulary.Vocabulary, kind report.Kind) *phrasebook {
	b := new(phrasebook)
	switch kind {
	case report.Cities:
		b.own = v.Concepts("report city destination travel place")
	case report.Advisories:
		b.own = v.Concepts("report advisory event travel")
	default:
		b.own = v.Concepts("report special advisory event travel")
	}
	b.place = b.own | v.Concepts("geo place city destination")
	b.formats = v.Concepts("report city destination advisory event special travel text")
	b.singlePlaces = kind != report.Cities
	when := v.Concepts("report advisory event special travel date valid")
	ask := func(f fieldID, allow string, needs ...string) {
		for i, need := range needs {
			p := phrase{field: f, need: v.Concepts(need), allow: v.Concepts(allow), rank: 16 * i}
			if f >= startsField {
				p.allow |= when
			} else {
				p.allow |= b.own
			}
			b.phrases = append(b.phrases, p)
		}
	}
	switch kind {
	case report.Cities:
		ask(codeField, "", "city code", "code", "iata", "iata code")
		ask(titleField, "text", "title", "name", "city", "destination", "place")
	case report.Advisories:
		ask(titleField, "text", "title", "name", "event", "country name", "country", "destination")
		ask(airportsField, "code name", "iata")
	default:
		ask(titleField, "text", "title", "name")
		ask(airportsField, "code name", "iata")
	}
	ask(namesField, "", "other name", "other title")
	for i, need := range []string{"other", "other alias"} { // other cities are no names of this one
		b.phrases = append(b.phrases, phrase{field: namesField, need: v.Concepts(need), allow: v.Concepts("name"), rank: 32 + 16*i})
	}
	ask(namesField, "name", "alias")
	ask(countryField, "place geo destination city parent label title", "country code", "country iso", "country code iso", "country", "iso", "iso code", "country name")
	if kind == report.Advisories {
		b.phrases = append(b.phrases, phrase{field: countryField, need: v.Concepts("destination"), rank: 7 * 16})
	}
	risk := []string{"risk level", "risk rating", "risk", "security level", "security rating", "threat level", "advisory level", "level", "rating", "severity"}
	ask(riskLevelField, "risk level rating score security threat travel advisory name label title code id text", risk...)
	ask(riskLabelField, "risk level rating score security threat travel advisory name label title text",
		append([]string{"risk label", "risk name", "level label", "level name", "rating label", "rating name"}, risk...)...)
	ask(airportsField, "code iata name", "airport code", "airport iata", "airport")
	ask(placesField, "geo number name event place region city destination", "place", "region", "city", "destination")
	around := "place geo destination city"
	if kind != report.Cities {
		around += " region"
	}
	ask(locationField, around, "geo", "lat lon", "place")
	ask(summaryField, "text", "summary")
	ask(threatsField, "threat risk security category level rating score name label number", "threat", "risk category", "risk", "event category", "advisory category", "security category")
	if kind == report.Cities {
		ask(startsField, "", "start")
	} else {
		ask(startsField, "", "start", "event date")
	}
	ask(endsField, "", "end")
	ask(publishedField, "", "published", "created")
	ask(updatedField, "", "updated")
	return b
}

// hits returns the fields that a value may belong to if its names mean this.
func (b *phrasebook) hits(means vocabulary.Concepts) []hit {
	var found []hit
	for _, p := range b.phrases {
		extra := means &^ p.need
		if means&p.need != p.need || extra&^p.allow != 0 || p.need&^b.own == 0 && extra != 0 {
			continue
		}
		if !slices.ContainsFunc(found, func(h hit) bool { return h.field == p.field }) {
			found = append(found, hit{p.field, p.rank + bits.OnesCount64(uint64(extra))})
		}
	}
	return found
}

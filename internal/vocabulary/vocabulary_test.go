package vocabulary

import (
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	v := New()
	for name, want := range map[string]string{
		"cityReportId": "city report id", "CityReportID": "city report id", "CITY_REPORT_ID": "city report id", "city-report-id": "city report id",
		"cityreportid": "city report id", "City report ID:": "city report id", "identifiant": "id", "idInforme": "id report",
		"niveau_de_risque": "level risk", "niveauRisque": "level risk", "Risikostufe": "risk level", "LÄNDERCODE": "country code", "Laendercode": "country code",
		"códigoPaís": "code country", "código_país": "code country", "gültigAb": "valid start", "gueltigAb": "valid start",
		"Veröffentlichungsdatum": "published date", "lastUpdated": "updated", "HTMLText": "text", "ALPHA_2": "iso", "isoAlpha3": "iso",
		"title_en": "title +en", "titleFr": "title +fr", "name-de-DE": "name +de", "published_at": "published date", "": "",
		"localKnowledge": "?", "idea": "?", "paid": "?", "validity": "valid", "grid": "?", "parentId": "parent id", "displayName": "name", "lastReviewedOn": "updated date", "compositeRiskTier": "risk level", "country_iso_3166": "country iso", "impactedCountries": "country", "profile_name": "name", "pk": "id", "zzKopf": "?",
		"riskByTopic": "risk category", "published_by": "?", "by_day": "?", "threat_matrix": "threat category", "alsoKnownAs": "alias", "formerly_known_as": "other alias", "known": "?", "known_issues": "?", "asOf": "?",
		"estate": "?", "toid": "?", "no": "?", "title_no": "title ?", "headlines": "title", "of": "?", "of_the": "?", "of_2": "?", "riskOf": "risk", "the_data": "", "latLng": "lat lon", strings.Repeat("id", 50): "?",
	} {
		n := v.Read(name)
		var concepts Concepts
		unknown, language := false, ""
		for word := range strings.FieldsSeq(want) {
			switch {
			case word == "?":
				unknown = true
			case word[0] == '+':
				language = word[1:]
			default:
				concepts |= v.Concepts(word)
			}
		}
		if n.Unknown != unknown || n.Language != language || !(want == "?" && unknown) && n.Concepts != concepts {
			t.Errorf("%q is read as %+v (%s), want %s", name, n, v.names(n.Concepts), want)
		}
	}
}

// TestReadLanguages: names in more languages, as columns of databases have them.
func TestReadLanguages(t *testing.T) {
	v := New()
	for concepts, names := range map[string]string{
		"valid start": "gyldig_fra gyldigFra giltigFrån", "valid end": "gyldig_til gyldigTil", "title": "TITTEL overskrift otsikko Tytuł başlık タイトル",
		"updated": "oppdatert Oppdatering päivitetty güncelleme 更新", "updated date": "UPD_DT sistOppdatertDato mise_à_jour 更新日時", "published date": "PUB_DT publiseringsdato Veröff_Datum VEROEFF_DT 公開日 yayım_tarihi",
		"created date": "ERFASST_AM opprettetDato CRT_DTTM", "updated ": "AENDERUNG geändert", "published": "diffusée Diffusion julkaistu opublikowano",
		"country": "land Land 国 ülke kraj", "country name": "CTRY_NM landnavn 国名 ÜLKE_ADI", "country code": "landkode CTRY_CD Ländercode 国コード", "airport": "lufthavn Flyplass lentoasema havalimanı",
		"risk level": "risikonivå RISK_LVL riskitaso poziom_ryzyka リスクレベル", "summary": "ingress DESC sammendrag 概要", "city": "byen kaupunki şehir gorod 都市", "place": "sted PLATS miejsce",
		"threat": "trussel Gefährdung uhka tehdit", "category": "CAT kategori 種別", "lat": "breddegrad", "lon": "lengdegrad 経度",
	} {
		for name := range strings.FieldsSeq(names) {
			if n := v.Read(name); n.Unknown || n.Concepts != v.Concepts(concepts) {
				t.Errorf("%q is read as %s, unknown %v, want %s", name, v.names(n.Concepts), n.Unknown, concepts)
			}
		}
	}
	if n := v.Read("title_fra"); n.Language != "fr" {
		t.Errorf("title_fra is read as %+v", n)
	}
	for english := range strings.FieldsSeq("fare airfare landing tilt utility frame fraction category catalog module modern mode expert effort export maximal hotel rubric by_user bystander idle kinder typhoon dilemma yearly nmap context capacity electricity") {
		if n := v.Read(english); !n.Unknown && english != "category" {
			t.Errorf("%q is read as %s", english, v.names(n.Concepts))
		}
	}
}

// TestEnding: what is put together is of the kind of its end.
func TestEnding(t *testing.T) {
	v := New()
	for word, want := range map[string]string{
		"Meldestufe": "level", "Farenivå": "level", "FARENIVAA": "level", "Uhrzeitangabe": "date", "Hälsoläge": "", "Prioritätsstufe": "level", "Ausgabedatum": "date", "Innreisedato": "date", "Zubringerflughafen": "airport",
		"capacity": "", "keyvalue": "", "context": "", "understand": "", "posted": "", "Finland": "", "Stufe": "", "deadline": "", "targetBlank": "",
	} {
		if got := v.Ending(word); got != v.Concepts(want) {
			t.Errorf("%s ends as %s, want %s", word, v.names(got), want)
		}
	}
}

func TestReadWithin(t *testing.T) {
	v := New()
	for name, want := range map[string]bool{"content": true, "FactList": true, "traductions": true, "reports": false, "items": false, "zzKopf": false} {
		if got := v.Read(name).Within; got != want {
			t.Errorf("%s is within a record: %v", name, got)
		}
	}
}

// names returns the names of concepts.
func (v *Vocabulary) names(c Concepts) string {
	var all []string
	for name, bit := range v.concepts {
		if c&bit != 0 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestReadOutOf: a name may state how high its numbers go.
func TestReadOutOf(t *testing.T) {
	v := New()
	for name, want := range map[string]struct {
		concepts string
		outOf    int
	}{
		"score-out-of-10": {"score", 10}, "scoreOutOf10": {"score", 10}, "RISK_OUT_OF_5": {"risk", 5}, "niveau sur 4": {"level", 4}, "puntuacion_de_10": {"score", 10}, "score_of_100": {"score", 100},
		"score10": {"?", 0}, "outOf10": {"?", 0}, "score_out_of_1": {"?", 0}, "out_of_office": {"?", 0}, "score-out-of-99999": {"?", 0},
	} {
		n := v.Read(name)
		if n.Unknown != (want.concepts == "?") || n.OutOf != want.outOf || !n.Unknown && n.Concepts != v.Concepts(want.concepts) {
			t.Errorf("%q is read as %+v (%s), want %s out of %d", name, n, v.names(n.Concepts), want.concepts, want.outOf)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"cityReportId": "city|Report|Id", "HTMLText": "HTML|Text", "iso3166Alpha2": "iso3166|Alpha2", "A": "A", "_a__b_": "a|b", "gültigBis": "gültig|Bis",
		"Population below poverty line": "Population|below|poverty|line", "HIV/AIDS": "HIV|AIDS",
	} {
		if got := strings.Join(Words(name), "|"); got != want {
			t.Errorf("the words of %s are %s, want %s", name, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	for tag, want := range map[string]string{"en": "en", "EN": "en", "en-GB": "en", "en_US": "en", "zh_Hant": "zh", "eng": "en", "deu": "de", "Français": "fr", "to": "", "id": "", "no": "", "x": "", "": "", ":en": ""} {
		if got := Language(tag); got != want {
			t.Errorf("%q is the language %q, want %q", tag, got, want)
		}
	}
}

func TestMapLanguage(t *testing.T) {
	for key, want := range map[string]string{"en": "en", "is": "is", "no": "no", "id": "id", "isl": "is", "sq-AL": "sq", "fil": "fil", "af_ZA": "af", "name": "", "xx": "", "x": "", "": "", "a-b": ""} {
		if got := MapLanguage(key); got != want {
			t.Errorf("the key %q is the language %q, want %q", key, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	v := New()
	for _, name := range []string{"cityReportId", "CITY_REPORT_ID", "Überschrift", "a\xffb", "ididididid", "title_en", "İ", "ß"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n := v.Read(name)
		if len(Words(name)) == 0 && n != (Name{}) && len(name) <= maxName {
			t.Fatalf("%q has no words, and is read as %+v", name, n)
		}
		if len(name) > maxName && !n.Unknown {
			t.Fatal("a name that is too long is read")
		}
	})
}

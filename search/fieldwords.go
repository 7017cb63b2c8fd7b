package search

import "strings"

// fieldInWords returns what a field of the index is, for people who do not know the index. It
// returns a field that it does not know as it is.
func fieldInWords(field string) string {
	for name := field; ; {
		if words, ok := fieldsInWords[name]; ok {
			return strings.TrimSpace(words + " " + formsInWords[strings.TrimPrefix(field, name)])
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return field
		}
		name = name[:dot]
	}
}

var fieldsInWords = map[string]string{
	"airports":            "code of an airport",
	"city_names_known":    "name of a city that it is about",
	"code":                "code",
	"codes_known":         "code of a place that it is about",
	"country":             "code of the country",
	"country_alpha3":      "code of the country",
	"country_name":        "name of the country",
	"country_names_known": "name of the country in another language",
	"ends_at":             "when it ends",
	"names":               "other name in the report",
	"names_known":         "other name of the city",
	"places.code":         "code of a place in it",
	"places.name":         "name of a place in it",
	"prominence":          "how well known it is",
	"published_at":        "how new it is",
	"received_at":         "how new it is",
	"region_names_known":  "name of a region",
	"starts_at":           "when it begins",
	"summary":             "summary",
	"text":                "text",
	"text_in":             "text in its language",
	"threats":             "threat that it warns of",
	"title":               "title",
	"updated_at":          "how new it is",
	"whole_country":       "it is about a whole country",
}

// formsInWords are the ways in which a field is searched.
var formsInWords = map[string]string{
	".exact": "(as it is written)",
	".whole": "(all of it)",
	".start": "(its start)",
}

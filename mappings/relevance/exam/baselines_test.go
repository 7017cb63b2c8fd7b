package exam

import (
	"encoding/json"
)

// The baselines are what somebody would write in an hour for the same index: riskdex's
// search must at least be better than they are.

// plainBody asks for any of the words in any field.
func plainBody(class, words string) ([]byte, error) {
	kind := "best_fields"
	if class == completion {
		kind = "bool_prefix"
	}
	return json.Marshal(object{"size": 10, "_source": []string{"kind"}, "query": object{"multi_match": object{
		"query": words, "type": kind, "fields": []string{"title^3", "names^2", "country_name^2", "places.name", "summary", "text"},
	}}})
}

// simpleBody asks for words across fields, misspelt ones, phrases and codes.
func simpleBody(class, words string) ([]byte, error) {
	names := []string{"title^3", "names^2", "country_name^2", "places.name"}
	fields := append([]string{"summary", "text"}, names...)
	match := func(kind string, boost int, fields []string, more object) object {
		more["query"], more["type"], more["boost"], more["fields"] = words, kind, boost, fields
		return object{"multi_match": more}
	}
	should := []any{
		match("cross_fields", 1, fields, object{"minimum_should_match": "2<75%"}),
		match("best_fields", 1, names, object{"fuzziness": "AUTO", "operator": "and"}),
		match("phrase", 2, fields, object{}),
		object{"term": object{"code": object{"value": words, "boost": 100}}},
		object{"term": object{"airports": object{"value": words, "boost": 50}}},
		object{"term": object{"country": object{"value": words, "boost": 20}}},
	}
	if class == completion {
		should = append(should, match("bool_prefix", 3, []string{"title", "names"}, object{"operator": "and"}))
	}
	return json.Marshal(object{"size": 10, "_source": []string{"kind"}, "query": object{"bool": object{"should": should}}})
}

package elasticserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
)

func TestPluginAnalyzesAsAReleasedServer(t *testing.T) {
	index := elastictest.URL(t) + "/" + elastictest.Prefix(t) + "analysis"
	settings := `{"settings": {"analysis": {
		"filter": {
			"folded":      {"type": "asciifolding", "preserve_original": true},
			"beginnings":  {"type": "edge_ngram", "min_gram": 2, "max_gram": 4},
			"beginnings+": {"type": "edge_ngram", "min_gram": 2, "max_gram": 3, "preserve_original": "true"},
			"english":     {"type": "stemmer", "language": "english"},
			"porter2":     {"type": "stemmer", "language": "porter2"},
			"light":       {"type": "stemmer", "language": "light_english"},
			"minimal":     {"type": "stemmer", "name": "minimal_english"},
			"possessive":  {"type": "stemmer", "language": "possessive_english"},
			"french":      {"type": "stemmer", "language": "light_french"},
			"articles":    {"type": "elision", "articles_case": true, "articles": ["l", "d"]},
			"danish":      {"type": "stemmer", "language": "danish"},
			"russian":     {"type": "stemmer", "language": "light_russian"},
			"turkish":     {"type": "stemmer", "language": "turkish"},
			"synonyms":    {"type": "synonym_graph", "synonyms": ["quake, earthquakes, Ground Shaking", "riot => unrest"]},
			"one_way":     {"type": "synonym_graph", "synonyms": ["quake, tremor"], "expand": false}
		},
		"char_filter": {
			"but_bold": {"type": "html_strip", "escaped_tags": ["b"]},
			"signs":    {"type": "mapping", "mappings": ["& => and", "ß=>ss", "\\u0040 => \\u0020at\\u0020"]},
			"digits":   {"type": "pattern_replace", "pattern": "(\\d+)-(?=\\d)", "replacement": "$1_"},
			"no_dots":  {"type": "pattern_replace", "pattern": "\\."}
		},
		"normalizer": {
			"name": {"type": "custom", "char_filter": ["signs", "no_dots"], "filter": ["lowercase", "asciifolding", "trim"]},
			"code": {"type": "custom", "filter": ["uppercase"]}
		}
	}}}`
	if status, answer := elastictest.Ask(t, "PUT", index, settings); status != 200 {
		t.Fatalf("creating the index answered %d: %s", status, answer)
	}
	for _, c := range []struct{ analysis, text, want string }{
		{`"filter": ["asciifolding"]`, "São Tomé", "Sao Tome"},
		{`"filter": ["folded"]`, "São Paulo", "Sao São Paulo"},
		{`"filter": ["edge_ngram"]`, "London", "L Lo"},
		{`"filter": ["beginnings"]`, "London", "Lo Lon Lond"},
		{`"filter": ["beginnings+"]`, "London", "Lo Lon London"},
		{`"filter": ["stemmer"]`, "protests travelling", "protest travel"},
		{`"filter": ["english"]`, "cities demonstrations", "citi demonstr"},
		{`"filter": ["porter2"]`, "skies generously", "sky generous"},
		{`"filter": ["light"]`, "cities demonstrations", "city demonstration"},
		{`"filter": ["minimal"]`, "cities travelling", "city travelling"},
		{`"filter": ["possessive"]`, "London's cities", "London cities"},
		{`"filter": ["articles"]`, "L'île d’Oléron", "île Oléron"},
		{`"filter": ["french"]`, "aéroports fermées", "aeroport ferm"},
		{`"filter": ["danish"]`, "lufthavnene", "lufthavn"},
		{`"filter": ["russian"]`, "забастовками", "забастовк"},
		{`"filter": ["apostrophe", "keyword_repeat", "turkish"]`, "Ankara'da oteller", "Ankara Ankar oteller otel"},
		{`"filter": ["german_normalization"]`, "Straße Ueberfall", "Strasse Ueberfall"},
		{`"filter": ["arabic_normalization"]`, "إضراب", "اضراب"},
		{`"filter": ["cjk_width", "cjk_bigram"]`, "東京駅のﾃﾞﾓ", "東京 京駅 駅の のデ デモ"},
		{`"filter": ["uppercase"]`, "gb", "GB"},
		{`"tokenizer": "whitespace"`, "東京  D.C. (x)", "東京 D.C. (x)"},
		{`"filter": ["lowercase", "english", "synonyms"]`, "Quakes and riots", "earthquak ground quak shake and unrest"},
		{`"filter": ["lowercase", "synonyms"]`, "ground shaking", "quake earthquakes ground shaking"},
		{`"filter": ["one_way"]`, "tremor", "quake"},
		{`"char_filter": ["html_strip"]`, "<p>caf&eacute; <b>bar</b></p>", "café bar"},
		{`"char_filter": ["but_bold"]`, "<p><b>bar</b></p>", "b bar b"},
		{`"char_filter": ["signs"]`, "B&B Straße me@home", "BandB Strasse me at home"},
		{`"char_filter": ["digits"]`, "12-34-56", "12_34_56"},
		{`"char_filter": ["no_dots"]`, "U.S.A.", "USA"},
	} {
		if !strings.Contains(c.analysis, "tokenizer") {
			c.analysis = `"tokenizer": "standard", ` + c.analysis
		}
		if got := analyze(t, index, c.analysis, c.text); got != c.want {
			t.Errorf("%s of %q: got %q, want %q", c.analysis, c.text, got, c.want)
		}
	}
	for _, c := range []struct{ normalizer, text, want string }{
		{"name", " St. Gießen & São ", "st giessen and sao"},
		{"code", "gb", "GB"},
	} {
		if got := analyze(t, index, `"normalizer": "`+c.normalizer+`"`, c.text); got != c.want {
			t.Errorf("normalizer %s of %q: got %q, want %q", c.normalizer, c.text, got, c.want)
		}
	}
}

// analyze returns the tokens, separated by spaces.
func analyze(t *testing.T, index, analysis, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	status, answer := elastictest.Ask(t, "POST", index+"/_analyze", `{`+analysis+`, "text": `+string(quoted)+`}`)
	if status != 200 {
		t.Errorf("analysis with %s answered %d: %s", analysis, status, answer)
		return ""
	}
	var parsed struct{ Tokens []struct{ Token string } }
	if err := json.Unmarshal(answer, &parsed); err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for _, token := range parsed.Tokens {
		tokens = append(tokens, token.Token)
	}
	return strings.Join(tokens, " ")
}

// TestPluginRefusesWhatItDoesNotDo: what a released server would do and the plugin does
// not must be refused, never ignored.
func TestPluginRefusesWhatItDoesNotDo(t *testing.T) {
	server, prefix := elastictest.URL(t), elastictest.Prefix(t)
	for name, analysis := range map[string]string{
		"welsh":     `{"filter": {"x": {"type": "stemmer", "language": "welsh"}}}`,
		"articles":  `{"filter": {"x": {"type": "elision", "articles_case": true}}}`,
		"unigrams":  `{"filter": {"x": {"type": "cjk_bigram", "output_unigrams": true}}}`,
		"back":      `{"filter": {"x": {"type": "edge_ngram", "side": "back"}}}`,
		"rules":     `{"char_filter": {"x": {"type": "mapping"}}}`,
		"arrow":     `{"char_filter": {"x": {"type": "mapping", "mappings": ["a b"]}}}`,
		"backslash": `{"char_filter": {"x": {"type": "mapping", "mappings": ["a => \\"]}}}`,
		"pattern":   `{"char_filter": {"x": {"type": "pattern_replace"}}}`,
		"synonyms":  `{"filter": {"x": {"type": "synonym_graph", "synonyms_path": "a.txt"}}}`,
		"lenient":   `{"filter": {"x": {"type": "synonym_graph", "synonyms": ["a, b"], "lenient": true}}}`,
		"unruly":    `{"filter": {"x": {"type": "synonym_graph", "synonyms": ["a => b => c"]}}, "analyzer": {"x": {"tokenizer": "standard", "filter": ["x"]}}}`,
	} {
		status, answer := elastictest.Ask(t, "PUT", server+"/"+prefix+name, `{"settings": {"analysis": `+analysis+`}}`)
		if status != 400 || !strings.Contains(string(answer), "illegal_argument_exception") {
			t.Errorf("%s answered %d: %s, want 400", name, status, answer)
		}
	}
}

package address_test

import (
	"strings"
	"testing"

	"riskdex/internal/address"
)

const example = "http://127.0.0.1:9200"

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://es:9200":             "http://es:9200",
		"http://es:9200/":            "http://es:9200",
		"http://es:9200//":           "http://es:9200",
		" https://es \n":             "https://es",
		"HTTP://ES:9200/":            "http://ES:9200",
		"https://es/search/eu/":      "https://es/search/eu",
		"https://es/a%2Fb/":          "https://es/a%2Fb",
		"http://[::1]:9200/":         "http://[::1]:9200",
		"http://u:p%40ss@es:9200/":   "http://u:p%40ss@es:9200",
		"http://u@es":                "http://u@es",
		"https://elasticsearch.org.": "https://elasticsearch.org.",
	} {
		u, err := address.Parse(text, example)
		if err != nil || u.String() != want {
			t.Errorf("%q is %v, %v; want %s", text, u, err, want)
		}
	}
}

// TestParseSaysWhatIsWrong: whatever the server would not be reached by is refused, with the words
// to write instead, and without the password.
func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "no address is given",
		" ":                            "no address is given",
		"elasticsearch:9200":           "does not begin with http://",
		"localhost":                    "does not begin with http://",
		"127.0.0.1:9200":               "does not begin with http://",
		"//es:9200":                    "does not begin with http://",
		"elastic:secret@es:9200":       "does not begin with http://",
		"ftp://es":                     "begins with ftp://",
		"http://":                      "has no host",
		"http:///es":                   "has no host",
		"http://:9200":                 "has no host",
		"http://es:9200?x=1":           "leave ?x=1 out",
		"http://es:9200/?":             "leave ? out",
		"http://es:9200/p#top":         "leave #top out",
		"http://es:9200,http://b:9200": "more than one address",
		"http://es:9200 http://b":      "more than one address",
		"http://e s:9200":              "a space in it",
		"http://es:":                   "no port",
		"http://es:99999":              "no port",
		"http://es:0":                  "no port",
		"http://es:port":               "cannot be read",
		"http://::1:9200":              "in brackets",
		"http://2001:db8::1":           "in brackets",
		"http://u:sec/ret@es:9200":     "%2F for /",
		"http://u:secret@es:99999":     "no port",
		"http://u:sec%ret@es:9200":     "special characters",
		"http://u:12/sec@es:9200":      "special characters",
		"http://u:p?sec@es:9200":       "special characters",
		"http://u:p@sec?ret@es:9200":   "special characters",
		"http://u:secret@es:9200?a=b":  "leave ?a=b out",
	} {
		u, err := address.Parse(text, example)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v; want %q", text, u, err, want)
			continue
		}
		if said := err.Error(); strings.Contains(said, "sec") {
			t.Errorf("the password is in %q", said)
		}
	}
}

package plaintext

import "testing"

func TestWithoutMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                  "plain",
		"Take **care** at _night_.":              "Take care at _night_.",
		"## Safety\nKeep calm.\n# Health":        "Safety\nKeep calm.\nHealth",
		"#1 in the list, C# and 5 # 6":           "#1 in the list, C# and 5 # 6",
		"See [the advice](https://x.org/a), now": "See the advice, now",
		"![A map](map.png \"Map\") of Oslo":      "A map of Oslo",
		"[1] and [a](b":                          "[1] and [a](b",
		"See https://example.org/a?b=c. Then go": "See . Then go",
		"Ask www.example.org today":              "Ask today",
		"https://a.org then":                     "then",
		"ahttp://b":                              "ahttp://b",
		"[**Bold** words](/a)":                   "Bold words",
		"__init__":                               "init",
		"":                                       "",
	} {
		if got := string(WithoutMarkdown([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

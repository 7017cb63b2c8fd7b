package auth

import (
	"strings"
	"testing"
)

// The first signature is the example of GitHub's documentation ("Validating
// webhook deliveries"); the others were computed with Python's hmac.
func TestHubSignatures(t *testing.T) {
	const known = "It's a Secret to Everybody"
	g := start(t, Config{HubFiles: []string{file(t, known+"\n"), file(t, keyOne)}})
	const right = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	const rightOne = "6b61eccabfb4e6f6417ee73e4ed255c064052a6ea882abd1c5ad30b91a79b3e8"
	g.want("the first key", "", "Hello, World!", hubSignature, "sha256="+right)
	g.want("in capitals", "", "Hello, World!", hubSignature, "sha256="+strings.ToUpper(right))
	g.want("the second key", "", body, hubSignature, "sha256="+rightOne)
	for what, header := range map[string][]string{
		"none":               nil,
		"of another body":    {hubSignature, "sha256=" + rightOne},
		"of a key not ours":  {hubSignature, "sha256=b275824a8b3277affb864399881d46e6b938934da90c4748e5b25ecdf720f9f6"},
		"truncated":          {hubSignature, "sha256=" + right[:62]},
		"longer":             {hubSignature, "sha256=" + right + "00"},
		"empty":              {hubSignature, "sha256="},
		"without its name":   {hubSignature, right},
		"of another name":    {hubSignature, "sha1=" + right},
		"no hexadecimal":     {hubSignature, "sha256=x" + right[1:]},
		"twice":              {hubSignature, "sha256=" + right, hubSignature, "sha256=" + right},
		"in the older field": {"X-Hub-Signature", "sha256=" + right},
	} {
		want := CauseMissing // or not in its form
		if strings.HasPrefix(what, "of a") && what != "of another name" {
			want = CauseSignature
		}
		g.want(what, want, "Hello, World!", header...)
	}
	if id := g.send(body, hubSignature, "sha256="+rightOne, webhookID, "msg_1").Header.Get("Signed-Id"); id != "" {
		t.Errorf("the unsigned id %q is used", id)
	}
}

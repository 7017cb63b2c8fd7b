package auth

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	token      = "a-token-of-the-publisher"
	otherToken = "another-token-of-theirs"
)

func basic(text string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(text))
}

func TestBearer(t *testing.T) {
	g := start(t, Config{BearerFiles: []string{file(t, token+"\r\n"+otherToken+"\n")}})
	g.want("right", "", body, "Authorization", "Bearer "+token)
	g.want("the other", "", body, "Authorization", "bearer  "+otherToken+" ")
	for _, value := range []string{
		"", "Bearer", "Bearer ", token, "Bearer " + token[:len(token)-1], "Bearer " + token + "x",
		"Bearer " + strings.ToUpper(token), "Bearer " + token + otherToken, "Bearer " + token + "\t" + otherToken, "Token " + token, basic(":" + token),
	} {
		want := CauseCredentials
		if parameter, found := strings.CutPrefix(value, "Bearer "); !found || parameter == "" {
			want = CauseMissing
		}
		g.want(value, want, body, "Authorization", value)
	}
	g.want("none", CauseMissing, body)
	g.want("two", CauseMissing, body, "Authorization", "Bearer "+token, "Authorization", "Bearer "+otherToken)
	g.want("in another header", CauseMissing, body, "X-Authorization", "Bearer "+token)
}

func TestBasic(t *testing.T) {
	g := start(t, Config{BasicFiles: []string{file(t, "publisher:pass:word with spaces\nanna:zürich-1234")}})
	g.want("right", "", body, "Authorization", basic("publisher:pass:word with spaces"))
	g.want("the other", "", body, "Authorization", basic("anna:zürich-1234"))
	for _, text := range []string{
		"", ":", "publisher", "publisher:", ":pass:word with spaces", "publisher:zürich-1234", "anna:pass:word with spaces",
		"Publisher:pass:word with spaces", "publisher:pass:word with spaces ", "publisher\x00:pass:word with spaces",
	} {
		want := CauseCredentials
		if text == "" {
			want = CauseMissing
		}
		g.want(text, want, body, "Authorization", basic(text))
	}
	g.want("not encoded", CauseCredentials, body, "Authorization", "Basic publisher:pass:word with spaces")
	g.want("as a token", CauseMissing, body, "Authorization", "Bearer"+basic("anna:zürich-1234")[5:])
}

// Every configured method must be satisfied, and the answer does not tell which secret was
// wrong.
func TestAllMethodsAreRequired(t *testing.T) {
	g := start(t, Config{
		AllowFrom: []string{"127.0.0.1"}, BearerFiles: []string{file(t, token)}, BasicFiles: []string{file(t, "anna:zürich-1234")},
		WebhookFiles: []string{file(t, keyOne)}, HubFiles: []string{file(t, keyOne)},
	})
	right := append(webhookHeader(t, keyOne, "msg_1", "1800000000", body),
		hubSignature, "sha256=6b61eccabfb4e6f6417ee73e4ed255c064052a6ea882abd1c5ad30b91a79b3e8",
		"Authorization", "Bearer "+token, "Authorization", basic("anna:zürich-1234"))
	g.want("all", "", body, right...)
	answers := map[string]bool{}
	for i := 0; i < len(right); i += 2 {
		for _, value := range []string{"", right[i+1][:len(right[i+1])-4] + "0123"} {
			header := append([]string{}, right...)
			header[i+1] = value
			res := g.send(body, header...)
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("with the %s %q: answered %d", right[i], value, res.StatusCode)
			}
			if text, _ := io.ReadAll(res.Body); value != "" {
				answers[string(text)+strings.Join(res.Header.Values("WWW-Authenticate"), ", ")] = true
			}
		}
	}
	for answer := range answers {
		if len(answers) != 1 || !strings.Contains(answer, `Bearer realm="riskdex", Basic realm="riskdex", Webhook-Signature`) {
			t.Errorf("one of %d answers: %s", len(answers), answer)
		}
	}
}

func TestNothingIsRequiredOfNobody(t *testing.T) {
	g := start(t, Config{})
	g.want("anybody", "", body)
	if g.authenticator.Required() || g.authenticator.Signed() || g.authenticator.Ready() != nil {
		t.Error("an authenticator without methods requires credentials")
	}
}

package auth

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"riskdex/internal/reread"
)

func TestTokens(t *testing.T) {
	now := signedAt
	clock := func() time.Time { return now }
	name := file(t, token+"\n"+otherToken)
	tokens, err := OpenTokens(nil, "tokens", []string{name}, clock, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for shown, want := range map[string]bool{token: true, otherToken: true, "": false, token + "x": false, token[1:]: false} {
		if got, err := tokens.Allow(shown); got != want || err != nil {
			t.Errorf("the token %q is accepted: %t, %v", shown, got, err)
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	now = now.Add(reread.Every)
	if got, err := tokens.Allow(token); got || err == nil {
		t.Errorf("without the file the token is accepted: %t, %v", got, err)
	}
	if _, err := OpenTokens(nil, "tokens", []string{name}, clock, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Open succeeded without the file")
	}
}

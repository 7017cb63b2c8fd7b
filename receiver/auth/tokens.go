package auth

import (
	"riskdex/internal/reread"

	"log/slog"
	"time"
)

// Tokens are bearer tokens for something other than deliveries, in files like those of an
// Authenticator. It may be used concurrently.
type Tokens struct{ list *secrets[[]byte] }

// OpenTokens reads the tokens in files, and reads them again when they change. what names them in
// errors and in the log. group takes the files; it may be nil.
func OpenTokens(group *reread.Group, what string, files []string, now func() time.Time, log *slog.Logger) (*Tokens, error) {
	list, err := openSecrets(group, what, files, perLine(bearerToken), now, log)
	if err != nil {
		return nil, err
	}
	return &Tokens{list}, nil
}

// Allow reports, in constant time, whether token is one of the tokens. If the files cannot be used,
// it returns an error; then nobody may be accepted.
func (t *Tokens) Allow(token string) (bool, error) {
	list, err := t.list.get()
	return err == nil && isOneOf(list, []byte(token)), err
}

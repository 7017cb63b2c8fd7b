package elasticserver

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Superuser is the role that may do everything.
const Superuser = "superuser"

// Security says which users may do what on a server. The server answers nothing without
// credentials. There is no TLS.
type Security struct {
	Users map[string]User
	// Roles has the definition of every role that users have, except for Superuser, as
	// JSON such as {"indices": [{"names": ["*"], "privileges": ["read"]}]}.
	Roles map[string]string
}

// User is a user with one role.
type User struct{ Password, Role string }

// SetSecurity changes the users and roles of a server that was started with Security. The
// server notices within a second.
func (s *Server) SetSecurity(security Security) error { return s.home.setSecurity(security) }

// setSecurity writes the files from which the server reads its users and roles, so that
// no set-up by requests is needed.
func (h home) setSecurity(security Security) error {
	var users, usersRoles, roles bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(security.Users)) {
		hash, err := passwordHash(security.Users[name].Password)
		if err != nil {
			return err
		}
		fmt.Fprintf(&users, "%s:%s\n", name, hash)
		fmt.Fprintf(&usersRoles, "%s:%s\n", security.Users[name].Role, name)
	}
	for _, name := range slices.Sorted(maps.Keys(security.Roles)) {
		fmt.Fprintf(&roles, "%s: %s\n", name, security.Roles[name]) // YAML, a superset of JSON
	}
	for name, content := range map[string][]byte{"users": users.Bytes(), "users_roles": usersRoles.Bytes(), "roles.yml": roles.Bytes()} {
		path := filepath.Join(h.config(), name)
		if is, err := os.ReadFile(path); err == nil && bytes.Equal(is, content) {
			continue // the server would read the same again, and may miss a role meanwhile, and remember that
		}
		if err := writeFile(path, content); err != nil {
			return fmt.Errorf("tell Elasticsearch its users: %w", err)
		}
	}
	return nil
}

// passwordRounds is the minimum that the server accepts. It need not be strong, because
// such a server listens on the loopback address, for tests.
const passwordRounds = 1000

func passwordHash(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	hash, err := pbkdf2.Key(sha512.New, password, salt, passwordRounds, 32)
	if err != nil {
		return "", fmt.Errorf("hash a password for Elasticsearch: %w", err)
	}
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("{PBKDF2}%d$%s$%s", passwordRounds, encode(salt), encode(hash)), nil
}

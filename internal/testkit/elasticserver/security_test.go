package elasticserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/torture"
)

func TestServerWithSecurityAsksForCredentials(t *testing.T) {
	if !torture.Wanted() {
		t.Skip("other tests start, stop, kill and secure servers with it: part of make torture")
	}
	const boss, password = "boss", "let:me$in"
	s := start(t, Options{Home: temporaryHome(t), Security: &Security{Users: map[string]User{boss: {password, Superuser}}}})
	status := func(user, password string) int {
		t.Helper()
		req, err := http.NewRequest(http.MethodPut, s.URL()+"/things/_doc/1", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		req.Header.Set("Content-Type", "application/json")
		if user != "" {
			req.SetBasicAuth(user, password)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := status("", ""); got != http.StatusUnauthorized {
		t.Errorf("without credentials the status is %d", got)
	}
	if got := status(boss, "let me in"); got != http.StatusUnauthorized {
		t.Errorf("with a wrong password the status is %d", got)
	}
	if got := status(boss, password); got != http.StatusCreated {
		t.Errorf("with the right password the status is %d", got)
	}

	err := s.SetSecurity(Security{
		Users: map[string]User{boss: {"another", Superuser}, "reader": {"r", "reading"}},
		Roles: map[string]string{"reading": `{"indices":[{"names":["*"],"privileges":["read"]}]}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for status(boss, "another") != http.StatusOK || status("reader", "r") != http.StatusForbidden {
		if time.Now().After(deadline) {
			t.Fatalf("the server did not notice the change: %d, %d", status(boss, "another"), status("reader", "r"))
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := status(boss, password); got != http.StatusUnauthorized {
		t.Errorf("with the old password the status is %d", got)
	}
}

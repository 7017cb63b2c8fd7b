package compose

import (
	"slices"
	"testing"
)

// A service that is compromised can become no other user, and can change only its data.
func TestServicesCanDoNoMoreThanTheyNeed(t *testing.T) {
	mayWrite := []string{"elasticsearch"} // creates a key store among its settings
	for name, s := range everything(t).Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0 || s.Privileged {
			t.Errorf("%s drops the capabilities %q and has %q, privileged is %v", name, s.CapDrop, s.CapAdd, s.Privileged)
		}
		if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges: %q", name, s.SecurityOpt)
		}
		if s.ReadOnly == slices.Contains(mayWrite, name) {
			t.Errorf("%s has a read-only root file system: %v", name, s.ReadOnly)
		}
	}
}

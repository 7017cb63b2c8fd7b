package elasticserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersionIsThatOfTheOptionsOrTheEnvironment(t *testing.T) {
	for _, c := range []struct{ option, environment, want string }{
		{"", "", DefaultVersion},
		{"", NextVersion, NextVersion},
		{DefaultVersion, NextVersion, DefaultVersion},
		{"", "1.2.3", ""},
		{"9", "", ""},
	} {
		t.Setenv(VersionVariable, c.environment)
		r, err := releaseOf(c.option)
		if r.version != c.want || (c.want == "") != (err != nil) {
			t.Errorf("option %q, environment %q: got %q, %v", c.option, c.environment, r.version, err)
		}
		if err != nil && (!strings.Contains(err.Error(), VersionVariable) || !strings.Contains(err.Error(), NextVersion)) {
			t.Errorf("the error does not tell what to set: %v", err)
		}
	}
}

func TestUnknownVersionStartsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	if _, err := Start(t.Context(), Options{Home: dir, Version: "7.0.0"}); err == nil || !strings.Contains(err.Error(), `"7.0.0"`) {
		t.Errorf("Start returned %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it has made a home")
	}
}

func TestDataIsLeftAloneByAVersionThatCannotReadIt(t *testing.T) {
	if next := (release{version: NextVersion}); !next.reads(EarlierVersion) {
		t.Error("the data of version 8 cannot be upgraded")
	}
	h := home{t.TempDir()}
	for _, step := range []struct {
		version string
		ok      bool
	}{{"8.19.0", true}, {"8.19.0", true}, {"8.19.14", true}, {"8.19.0", false}, {"9.2.0", false}, {"8.19.14", true}} {
		err := h.claimFor(release{version: step.version})
		if (err == nil) != step.ok {
			t.Errorf("%s: %v", step.version, err)
		}
		if err != nil && !strings.Contains(err.Error(), h.dir) {
			t.Errorf("the error does not name the folder: %v", err)
		}
	}
}

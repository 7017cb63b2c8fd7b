package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// stamp says what the program was built from if the build had no repository, as in an image:
// the version, the commit and its time, separated by spaces. Only the linker sets it, with
// -X main.stamp=… (see the Makefile).
var stamp string

type versionCommand struct {
	JSON bool `name:"json" help:"For programs: version, commit, time, modified, go, platform."`
}

// Run prints what this program was built from.
func (c *versionCommand) Run(io streams) error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(io.out).Encode(b)
	}
	_, err := fmt.Fprintln(io.out, b)
	return err
}

// build is what the program was built from and with.
type build struct {
	Version string `json:"version"`          // a tag of the repository, or what Go derives from the commit; "(devel)" if nothing is known
	Commit  string `json:"commit,omitempty"` // empty if unknown
	Time    string `json:"time,omitempty"`   // of the commit, RFC 3339; not of the build, which is reproducible
	// Modified is set if files differed from the commit.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild returns the build that is running.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return buildOf(info, stamp)
}

// buildOf prefers what Go saw in the repository to the stamp, which can be set to anything.
func buildOf(info *debug.BuildInfo, stamp string) build {
	b := build{Version: info.Main.Version, Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if parts := strings.Fields(stamp); b.Commit == "" && len(parts) == 3 {
		b.Version, b.Commit, b.Time = parts[0], parts[1], parts[2]
		b.Modified = strings.HasSuffix(b.Version, "-dirty")
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	return b
}

func (b build) String() string {
	from := "unknown commit"
	if b.Commit != "" {
		from = "commit " + b.Commit + " of " + b.Time
	}
	if b.Modified {
		from += " and changes that are in no commit"
	}
	return fmt.Sprintf("riskdex %s, %s, %s, %s", b.Version, from, b.Go, b.Platform)
}

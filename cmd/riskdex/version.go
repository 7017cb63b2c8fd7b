package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// stamp says what the program was built from where the repository was not at
// hand, as in an image: the version, the commit and its time, with spaces between
// them. Only the linker sets it, with -X main.stamp=…; the Makefile knows how.
var stamp string

type versionCommand struct {
	JSON bool `name:"json" help:"For programs: version, commit, time, modified, go, platform."`
}

// Run says what this program was built from. It needs nothing else.
func (c *versionCommand) Run(io streams) error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(io.out).Encode(b)
	}
	_, err := fmt.Fprintln(io.out, b)
	return err
}

// build is what a program was built from and with.
type build struct {
	Version string `json:"version"`          // a tag of the repository, or what Go derives from the commit; "(devel)" where nothing is known
	Commit  string `json:"commit,omitempty"` // empty where it is not known
	Time    string `json:"time,omitempty"`   // of the commit, RFC 3339; builds at other times are the same
	// Modified tells that files differed from the commit.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisBuild is the build that is running.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return buildOf(info, stamp)
}

// buildOf prefers what Go saw in the repository to the stamp, which whoever
// builds can set to anything.
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

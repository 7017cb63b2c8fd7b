package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// failing are tests of which some fail, by the name of their package.
var failing = map[string]string{
	"starved": `func TestStarved(t *testing.T) {
	if os.Mkdir("was-here", 0o755) == nil {
		t.Run("part", func(t *testing.T) { t.Error("failed beside others") })
	}
}
func TestGood(t *testing.T) {}`,
	"wrong":   `func TestWrong(t *testing.T) { os.Exit(len(t.Name())) }`,
	"flawed":  `func TestFlawed(t *testing.T) { t.Error("fails each time") }`,
	"crashes": `func TestCrashes(t *testing.T) { panic("crashed") }`,
	"races": `func TestRaces(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() { n++; close(done) }()
	n++
	<-done
	if os.Mkdir("was-here", 0o755) != nil { return }
}`,
	"broken": `func TestBroken(t *testing.T) { does not compile }`,
	"many": `func TestA(t *testing.T) { t.Fail() }
func TestB(t *testing.T) { t.Fail() }
func TestC(t *testing.T) { t.Fail() }
func TestD(t *testing.T) { t.Fail() }
func TestE(t *testing.T) { t.Fail() }
func TestF(t *testing.T) { t.Fail() }
func TestG(t *testing.T) { t.Fail() }
func TestH(t *testing.T) { t.Fail() }
func TestI(t *testing.T) { t.Fail() }`,
}

func TestFailedTestsRunAgain(t *testing.T) {
	needs.FullRun(t, "go test and the race detector")
	for name, c := range map[string]struct {
		packages string
		flags    string
		passes   bool
		again    bool // something is run again
		says     string
	}{
		"passes alone":           {packages: "starved", passes: true, again: true, says: "FAILED BESIDE OTHERS, PASSED ALONE starved: TestStarved\n"},
		"fails alone":            {packages: "flawed", again: true, says: "FAILED flawed: TestFlawed\n"},
		"one of two":             {packages: "starved flawed", again: true, says: "PASSED ALONE starved: TestStarved\nFAILED flawed: TestFlawed\n"},
		"in runs side by side":   {packages: "starved ; flawed", again: true, says: "PASSED ALONE starved: TestStarved\nFAILED flawed: TestFlawed\n"},
		"ends by itself":         {packages: "starved wrong", says: "FAILED starved: TestStarved\n"},
		"a crash":                {packages: "starved crashes", says: "FAILED starved: TestStarved\n"},
		"a data race":            {packages: "races", flags: "-race", says: "FAILED races: TestRaces\n"},
		"does not compile":       {packages: "starved broken", says: "FAILED starved: TestStarved\n"},
		"there is no package":    {packages: "starved ; none", says: "FAILED starved: TestStarved\n"},
		"go does not understand": {packages: "starved ; -no-such-flag", says: "FAILED starved: TestStarved\n"},
		"too many":               {packages: "many", says: "FAILED many: TestI\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(file, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			write("go.mod", "module riskdex\n\ngo 1.26\n")
			for name, test := range failing {
				write(name+"/x_test.go", "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\n"+test+"\n")
			}
			args := []string{"test", "--again", "--", "-C", dir}
			if c.flags != "" {
				args = append(args, c.flags)
			}
			for word := range strings.FieldsSeq(c.packages) {
				switch {
				case word == ";":
					args = append(args, ";", "-C", dir)
				case strings.HasPrefix(word, "-"):
					args = append(args, word)
				default:
					args = append(args, "./"+word)
				}
			}
			status, out, stderr := runHere(args...)
			if status == 0 != c.passes || strings.Contains(out, "Once more, alone: ") != c.again || !strings.Contains(out, c.says) {
				t.Errorf("exit status %d, and\n%s%s", status, out, stderr)
			}
		})
	}
}

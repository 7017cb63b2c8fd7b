package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type manCommand struct {
	Dir string `arg:"" help:"A folder that exists."`
}

// Run writes one page per command, and one about all of them.
func (c *manCommand) Run(k *kong.Kong) error {
	pages := map[string]string{"riskdex": overviewPage(k.Model, thisBuild())}
	for _, leaf := range k.Model.Leaves(true) {
		pages[pageName(leaf)] = commandPage(leaf, thisBuild())
	}
	for name, text := range pages {
		// #nosec G306 -- everybody may read it
		if err := os.WriteFile(filepath.Join(c.Dir, name+".1"), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write a manual page: %w", err)
		}
	}
	return nil
}

// pageName returns the name of a command's page, such as riskdex-dead-list.
func pageName(command *kong.Node) string {
	return strings.ReplaceAll(command.FullPath(), " ", "-")
}

// page is a manual page in the language of man(7).
type page struct{ strings.Builder }

func newPage(name, what string, b build) *page {
	p := new(page)
	day, _, _ := strings.Cut(b.Time, "T")
	fmt.Fprintf(p, ".TH %s 1 \"%s\" \"riskdex %s\" \"riskdex manual\"\n.nh\n.ad l\n", roff(strings.ToUpper(name)), day, roff(b.Version))
	p.section("NAME", roff(name)+` \- `+roff(strings.TrimSuffix(what, ".")))
	return p
}

// section adds a heading with lines that are roff.
func (p *page) section(title string, lines ...string) {
	fmt.Fprintf(p, ".SH %s\n%s\n", title, strings.Join(lines, "\n"))
}

// term adds what a word means. word is roff; help is not.
func (p *page) term(word, help string) {
	fmt.Fprintf(p, ".TP\n%s\n%s\n", word, roff(help))
}

func (p *page) end(also ...string) string {
	p.section("EXIT STATUS", "0: done. 1: done, and the answer is no (nothing found, something refused or wrong). 2: it could not be done.")
	if len(also) > 0 {
		p.section("SEE ALSO", strings.Join(also, ",\n"))
	}
	return p.String()
}

func overviewPage(app *kong.Application, b build) string {
	p := newPage("riskdex", "keeps a search index in step with a travel-risk feed", b)
	p.section("SYNOPSIS", `\fBriskdex\fR \fICOMMAND\fR [\fIFLAG\fR ...]`)
	p.section("DESCRIPTION", "A publisher pushes travel-risk content to riskdex as JSON over HTTP. riskdex makes each delivery durable, acknowledges it, and brings it into Elasticsearch, where apps search.")
	p.section("COMMANDS", "Each has a page of its own, such as "+reference("riskdex-serve")+".")
	var also []string
	for _, leaf := range app.Leaves(true) {
		p.term(`\fB`+roff(strings.TrimPrefix(leaf.FullPath(), "riskdex "))+`\fR`, leaf.Help)
		also = append(also, reference(pageName(leaf)))
	}
	p.section("FILES")
	p.term(`\fI/etc/riskdex/riskdex.env\fR`, "The settings of the service, if a package installed it.")
	p.term(`\fI/etc/riskdex/credentials\fR`, "Its secrets, one per file, for the group riskdex. They are reread when they change.")
	p.term(`\fI/var/lib/riskdex/riskdex.db\fR`, "Its journal.")
	p.term(`\fI/var/backups/riskdex\fR`, "Backups of riskdex-backup.timer, which is off by default; for another disk.")
	return p.end(also...)
}

func commandPage(command *kong.Node, b build) string {
	p := newPage(pageName(command), command.Help, b)
	synopsis := []string{`\fB` + roff(command.FullPath()) + `\fR`}
	for _, a := range command.Positional {
		synopsis = append(synopsis, roff(a.Summary()))
	}
	p.section("SYNOPSIS", strings.Join(synopsis, " ")+` [\fIFLAG\fR ...]`)
	p.section("DESCRIPTION", roff(command.Help))
	if command.Detail != "" && command.Detail != command.Help {
		fmt.Fprintf(p, ".PP\n%s\n", roff(command.Detail))
	}
	if len(command.Positional) > 0 {
		p.section("ARGUMENTS")
	}
	for _, a := range command.Positional {
		p.term(roff(a.Summary()), helpOf(a))
	}
	p.section("FLAGS")
	for _, f := range slices.Concat(command.AllFlags(true)...) {
		p.term(flagTerm(f), helpOf(f.Value))
	}
	return p.end(reference("riskdex"))
}

func flagTerm(f *kong.Flag) string {
	term := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Short != 0 {
		term = `\fB` + roff("-"+string(f.Short)) + `\fR, ` + term
	}
	if !f.IsBool() {
		term += `=\fI` + roff(f.FormatPlaceHolder()) + `\fR`
	}
	return term
}

func reference(page string) string { return `\fB` + roff(page) + `\fR(1)` }

// roff escapes text. A line must not begin with a dot or an apostrophe, which would make it
// a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

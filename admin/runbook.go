package admin

import (
	"html"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"riskdex"
)

// runbook shows docs/operations.md of this version, for operators who are woken and may
// reach no other page. It has a section for each trouble.
func (p *page) runbook(w http.ResponseWriter, _ *http.Request) {
	v := p.view()
	v.Runbook = asHTML(riskdex.Operations)
	p.write(w, http.StatusOK, "runbook.html", v)
}

// Contents returns the headings of the runbook's chapters.
func (v view) Contents() (all []string) {
	for _, m := range chapterLine.FindAllStringSubmatch(riskdex.Operations, -1) {
		all = append(all, m[1])
	}
	return all
}

var (
	chapterLine = regexp.MustCompile(`(?m)^## (.+)$`)
	headingLine = regexp.MustCompile(`^(#+) (.+)$`)
	ruleOfTable = regexp.MustCompile(`^[|\s:-]+$`)
	listLine    = regexp.MustCompile(`^( *)([-0-9]+\.?) `)
	notInAnchor = regexp.MustCompile(`[^a-z0-9 -]`)

	inlines = []struct {
		is *regexp.Regexp
		as string
	}{
		{regexp.MustCompile(`\[([^\]]+)\]\((#[^)]*|https://[^)]*)\)`), `<a href="$2">$1</a>`},
		{regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`), `$1`}, // a link to another file, which is not served here
		{regexp.MustCompile(`\*\*([^*]+)\*\*`), `<strong>$1</strong>`},
		{regexp.MustCompile(`(^|[^\w*])\*([^* ][^*]*)\*`), `$1<em>$2</em>`},
	}
)

// asHTML renders the part of Markdown that the runbook uses: headings, tables, lists, code,
// links and emphasis. A paragraph is one line.
func asHTML(markdown string) template.HTML {
	var out strings.Builder
	code, table := false, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		fence, row := strings.HasPrefix(line, "```"), strings.HasPrefix(line, "|") && !code
		if table && !row {
			out.WriteString("</tbody></table>\n")
			table = false
		}
		heading := headingLine.FindStringSubmatch(line)
		switch {
		case fence && code:
			out.WriteString("</pre>\n")
			code = false
		case fence:
			out.WriteString(`<pre tabindex="0">`)
			code = true
		case code:
			out.WriteString(html.EscapeString(line) + "\n")
		case row && ruleOfTable.MatchString(line):
		case row:
			cell := "td"
			if !table {
				out.WriteString("<table><tbody>\n")
				table, cell = true, "th"
			}
			out.WriteString("<tr>")
			for text := range strings.SplitSeq(strings.Trim(line, "| "), " | ") {
				out.WriteString("<" + cell + ">" + inline(text) + "</" + cell + ">")
			}
			out.WriteString("</tr>\n")
		case heading != nil:
			level := "h3"
			if len(heading[1]) < 3 {
				level = "h2"
			}
			out.WriteString("<" + level + ` id="` + anchor(heading[2]) + `">` + inline(heading[2]) + "</" + level + ">\n")
		case listLine.MatchString(line):
			out.WriteString(`<p class="item">` + inline(line) + "</p>\n")
		case line != "":
			out.WriteString("<p>" + inline(line) + "</p>\n")
		}
	}
	return template.HTML(out.String()) // #nosec G203 -- it is the program's own text, and escaped
}

// anchor returns the anchor of a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// inline renders links and emphasis outside of code.
func inline(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = html.EscapeString(part)
		if i%2 == 1 {
			out.WriteString("<code>" + part + "</code>")
			continue
		}
		for _, one := range inlines {
			part = one.is.ReplaceAllString(part, one.as)
		}
		out.WriteString(part)
	}
	return out.String()
}

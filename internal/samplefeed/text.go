package samplefeed

import (
	"html"
	"strings"
)

// article is the text of one report, before it is put into a shape.
type article struct {
	title, summary string
	chapters       []chapter
}

type chapter struct {
	title    string
	sections []section
}

type section struct {
	title      string
	paragraphs []string
}

// plain returns the text of some chapters without markup.
func plain(chapters []chapter) string {
	var b strings.Builder
	for _, c := range chapters {
		b.WriteString(strings.ToUpper(c.title) + "\n\n")
		for _, s := range c.sections {
			b.WriteString(s.title + "\n" + strings.Join(s.paragraphs, "\n") + "\n\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// markup returns the text of some chapters as HTML, entities included.
func markup(chapters []chapter) string {
	var b strings.Builder
	for _, c := range chapters {
		b.WriteString("<h2>" + html.EscapeString(c.title) + "</h2>\n")
		for _, s := range c.sections {
			b.WriteString("<h3 class=\"section\">" + html.EscapeString(s.title) + "</h3>\n" + s.markup())
		}
	}
	return b.String()
}

// markup returns the section's paragraphs as HTML: the first as a paragraph, the others as
// a list, as editors of such reports write.
func (s section) markup() string {
	var b strings.Builder
	for i, p := range s.paragraphs {
		p = strings.ReplaceAll(html.EscapeString(p), "é", "&eacute;")
		switch {
		case i == 0:
			b.WriteString("<p>" + p + "</p>\n")
		case i == 1:
			b.WriteString("<ul><li><strong>" + p + "</strong></li>\n")
		default:
			b.WriteString("<li>" + p + "&nbsp;</li>\n")
		}
	}
	if len(s.paragraphs) > 1 {
		b.WriteString("</ul>\n")
	}
	return b.String()
}

// nested returns the chapters as records, each section with its text as HTML or plain.
func nested(chapters []chapter, asHTML bool) []any {
	var out []any
	for i, c := range chapters {
		var sections []any
		for _, s := range c.sections {
			text := strings.Join(s.paragraphs, "\n")
			if asHTML {
				text = s.markup()
			}
			sections = append(sections, record{"title": s.title, "text": text, "images": []any{}})
		}
		out = append(out, record{"order": i + 1, "title": c.title, "sections": sections, "subtitle": nil})
	}
	return out
}

// writer writes articles about one subject.
type writer struct {
	grammar grammar
	dice    *dice
	about   subject
}

// section writes some sentences of a topic under a title.
func (w writer) section(title, topic string, sentences int) section {
	return section{title: title, paragraphs: w.grammar.say(w.dice, w.about, topic, sentences)}
}

func (w writer) one(topic string) string { return w.grammar.one(w.dice, w.about, topic) }

// city writes the report of a city. Every edition has the same words, except for the first
// chapter, which has the edition's mark and what was corrected.
func (w writer) city(mark string, corrected bool) article {
	about := w.about.facts
	glance := w.section("At a glance", "glance", 8)
	glance.paragraphs = append([]string{w.one("fact")}, glance.paragraphs...)
	a := article{
		title:   about["city"],
		summary: w.one("first"),
		chapters: []chapter{
			{"Overview", []section{glance, w.section("At night", "night", 5), w.section("Who should know more", "solo", 5)}},
			{"Threats", []section{
				w.section("Crime", "crime", 8), w.section("Scams", "scams", 6), w.section("Protest and unrest", "protest", 6),
				w.section("Security routine", "security", 5), w.section("Road safety", "road", 8), w.section("Natural hazards", "hazards", 7),
			}},
			{"Health", []section{w.section("Staying well", "health", 8)}},
			{"Local knowledge", []section{
				w.section("Arriving", "arrive", 6), w.section("Getting around", "transport", 7), w.section("Customs", "customs", 7),
				w.section("Money", "money", 4), w.section("Staying connected", "connect", 4), w.section("In an emergency", "emergency", 7),
			}},
		},
	}
	w.finish(&a, "disclaimer", "correction", mark, corrected)
	return a
}

// finish begins every chapter with a sentence that says what the text is, and ends the
// first section with the mark.
func (w writer) finish(a *article, disclaimer, correction, mark string, corrected bool) {
	for i := range a.chapters {
		s := &a.chapters[i].sections[0]
		s.paragraphs = append([]string{w.one(disclaimer)}, s.paragraphs...)
	}
	s := &a.chapters[0].sections[0]
	if corrected {
		s.paragraphs = append(s.paragraphs, w.one(correction))
	}
	s.paragraphs = append(s.paragraphs, "The mark of this sample edition is "+mark+".")
}

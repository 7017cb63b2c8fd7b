package samplefeed

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed prose
var proseFiles embed.FS

// grammar holds the sentences of every topic. prose/city.txt explains the form.
type grammar map[string][]sentence

type sentence struct {
	tags []string // the subject must have one of them; if there are none, every subject may have the sentence
	text string
}

// subject is what sentences are about.
type subject struct {
	facts map[string]string
	tags  []string
}

// parseGrammar reads every file of prose.
func parseGrammar(prose fs.FS) (grammar, error) {
	g := grammar{}
	names, err := fs.Glob(prose, "prose/*.txt")
	if err != nil {
		return nil, fmt.Errorf("list the prose files: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(prose, name)
		if err != nil {
			return nil, fmt.Errorf("read the prose: %w", err)
		}
		topic := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "== "):
				topic = line[len("== "):]
			default:
				g[topic] = append(g[topic], parseSentence(line))
			}
		}
	}
	return g, nil
}

func parseSentence(line string) sentence {
	if guard, text, ok := strings.Cut(line, " "); ok && strings.HasPrefix(guard, "@") {
		return sentence{tags: strings.Split(guard[1:], ","), text: text}
	}
	return sentence{text: line}
}

// say returns up to k sentences of a topic about s, none of them twice. It prefers
// sentences that only some subjects may have, since they set one city apart from another.
func (g grammar) say(d *dice, s subject, topic string, k int) []string {
	var own, common []string
	for _, candidate := range g[topic] {
		allowed := func(tag string) bool { return slices.Contains(s.tags, tag) }
		if candidate.tags == nil {
			common = append(common, candidate.text)
		} else if slices.ContainsFunc(candidate.tags, allowed) {
			own = append(own, candidate.text)
		}
	}
	said := d.sample(k, own)
	said = append(said, d.sample(k-len(said), common)...)
	said = d.sample(k, said)
	for i := range said {
		said[i] = g.expand(d, s, said[i])
	}
	return said
}

// one returns a single sentence or name of a topic.
func (g grammar) one(d *dice, s subject, topic string) string {
	return strings.Join(g.say(d, s, topic, 1), "")
}

// expand makes the choices in [a|b] and replaces {names} by facts and topics.
func (g grammar) expand(d *dice, s subject, text string) string {
	var b strings.Builder
	for {
		open := strings.IndexAny(text, "[{")
		if open < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:open])
		ending := map[byte]string{'[': "]", '{': "}"}[text[open]]
		inner, rest, _ := strings.Cut(text[open+1:], ending)
		if fact, ok := s.facts[inner]; ok {
			b.WriteString(fact)
		} else if ending == "]" {
			b.WriteString(g.expand(d, s, d.pick(strings.Split(inner, "|"))))
		} else {
			b.WriteString(g.one(d, s, inner))
		}
		text = rest
	}
	return capitalised(b.String())
}

// capitalised starts a sentence with a capital if it begins with a name such as "the old
// quarter" or a fact; district and street names do not need it.
func capitalised(text string) string {
	if strings.HasSuffix(text, ".") && text[0] >= 'a' && text[0] <= 'z' {
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

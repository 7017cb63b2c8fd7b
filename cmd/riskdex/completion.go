package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed completion
var completionScripts embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help says where the script belongs.
func (completionCommand) Help() string {
	return `To try it: source <(riskdex completion bash), or riskdex completion fish | source. To keep it, write it to
~/.local/share/bash-completion/completions/riskdex, to a file _riskdex in a folder of zsh's $fpath, or to
~/.config/fish/completions/riskdex.fish. The packages for Linux bring it.`
}

// Run prints the script, which asks riskdex complete.
func (c *completionCommand) Run(io streams) error {
	script, err := completionScripts.ReadFile("completion/riskdex." + c.Shell)
	if err != nil {
		return err
	}
	_, err = io.out.Write(script)
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"After --, the words behind riskdex; the last one, which may be empty, is to be completed."`
}

// Run prints one candidate per line: the word, and after a tab what it means. Where it prints
// none, the scripts complete names of files.
func (c *completeCommand) Run(k *kong.Kong, io streams) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, w := range complete(k.Model.Node, words) {
		if _, err := fmt.Fprintf(io.out, "%s\t%s\n", w.text, w.help); err != nil {
			return err
		}
	}
	return nil
}

// completion is a word that can stand at the end of a command line.
type completion struct{ text, help string }

// complete returns what can stand in place of the last word.
func complete(node *kong.Node, words []string) (found []completion) {
	if len(words) == 0 {
		return nil
	}
	at, last := walk(node, words[:len(words)-1]), words[len(words)-1]
	add := func(text, help string) {
		if text != "" && strings.HasPrefix(text, last) {
			found = append(found, completion{text, help})
		}
	}
	name, value, joined := strings.Cut(last, "=")
	switch flag := at.flag(name); {
	case at.awaits != nil:
		last = strings.TrimPrefix(last, "=") // which bash makes a word of its own
		for _, value := range at.awaits.EnumSlice() {
			add(value, "")
		}
	case joined && flag != nil:
		for _, v := range flag.EnumSlice() {
			if strings.HasPrefix(v, value) {
				add(name+"="+v, "")
			}
		}
	case strings.HasPrefix(last, "-") && !at.ended:
		for _, f := range slices.Concat(at.node.AllFlags(true)...) {
			add("--"+f.Name, f.Help)
		}
	default:
		for _, child := range at.node.Children {
			if !child.Hidden {
				add(child.Name, child.Help)
			}
		}
		for _, value := range at.argument().EnumSlice() {
			add(value, "")
		}
	}
	return found
}

// place is where a command line has come to.
type place struct {
	node      *kong.Node
	arguments int
	awaits    *kong.Value // the flag whose value comes next
	ended     bool        // by --, after which no flag comes
}

// walk goes from a command along words.
func walk(node *kong.Node, words []string) place {
	at := place{node: node}
	for _, word := range words {
		switch name, _, joined := strings.Cut(word, "="); {
		case word == "=" && at.awaits != nil: // as bash splits --flag=value
		case at.awaits != nil:
			at.awaits = nil
		case word == "--" && !at.ended:
			at.ended = true
		case strings.HasPrefix(word, "-") && word != "-" && !at.ended:
			if flag := at.flag(name); flag != nil && !flag.IsBool() && !joined {
				at.awaits = flag.Value
			}
		default:
			at = at.next(word)
		}
	}
	return at
}

// next goes to the command that a word names, or else takes it for an argument.
func (p place) next(word string) place {
	for _, child := range p.node.Children {
		if child.Name == word {
			if child.Name != "help" { // which takes what stands in its own place
				p.node = child
			}
			return p
		}
	}
	p.arguments++
	return p
}

// flag returns the flag with a name such as --json, or nil.
func (p place) flag(name string) *kong.Flag {
	for _, f := range slices.Concat(p.node.AllFlags(true)...) {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// argument returns the argument that comes next, which has no values if there is none.
func (p place) argument() *kong.Value {
	list := p.node.Positional
	if p.arguments < len(list) {
		return list[p.arguments]
	}
	if len(list) > 0 && list[len(list)-1].IsCumulative() {
		return list[len(list)-1]
	}
	return new(kong.Value)
}

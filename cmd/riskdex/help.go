package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as dead list; all of them if none is given."`
}

// Run shows what the command shows with --help.
func (c *helpCommand) Run(k *kong.Kong) error {
	ctx, err := kong.Trace(k, c.Command)
	if err != nil {
		return err
	}
	if ctx.Error != nil {
		return ctx.Error
	}
	return ctx.PrintUsage(false)
}

// helpOf returns the help of a flag or an argument, with its default and its variable.
func helpOf(v *kong.Value) string {
	var more []string
	if v.Default != "" {
		more = append(more, "default "+v.Default)
	}
	for _, name := range v.Tag.Envs {
		more = append(more, "$"+name)
	}
	if len(more) == 0 {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " (" + strings.Join(more, ", ") + ")."
}

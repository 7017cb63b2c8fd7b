package main

import (
	"os"
	"slices"

	"github.com/alecthomas/kong"
)

// emptyIsUnset has a variable that is empty in the environment count as one that is not
// there, whatever it is for. So it is in an env file or a manifest, where a line is left
// without a value; a folder with no name would be the one that riskdex is started in.
func emptyIsUnset(k *kong.Kong) error {
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			// A list of its own: the flag's names the same variables to people.
			flag.Tag.Envs = slices.DeleteFunc(slices.Clone(flag.Tag.Envs), func(name string) bool {
				value, there := os.LookupEnv(name)
				return there && value == ""
			})
		}
		return next(nil)
	})
}

package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"riskdex/internal/letters"
)

// emptyIsUnset makes an empty variable of the environment count as unset, whatever it is for.
// Env files and manifests leave lines without a value, and a folder with an empty name would
// be the one that riskdex is started in.
func emptyIsUnset(k *kong.Kong) error {
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			// Only the tag's list is changed: help texts print the flag's.
			flag.Tag.Envs = slices.DeleteFunc(slices.Clone(flag.Tag.Envs), func(name string) bool {
				value, there := os.LookupEnv(name)
				return there && value == ""
			})
		}
		return next(nil)
	})
}

// ownPrefix begins the name of every variable that is a setting of riskdex alone.
const ownPrefix = "RISKDEX_"

// notSettings matches the variables that are for the tests of riskdex.
var notSettings = regexp.MustCompile(`^RISKDEX_(TEST_|TORTURE$)`)

// serviceLink matches the variables that Kubernetes sets in every container for a
// Service whose name begins with riskdex.
var serviceLink = regexp.MustCompile(`^RISKDEX_([A-Z0-9_]+_)?(SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT=(tcp|udp|sctp)://|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

// checkVariables returns an error for each variable of the environment that looks like a
// setting but is not one: a misspelled RISKDEX_BEARER_FILE would otherwise let everybody
// deliver. environ is as os.Environ returns it. Empty variables count as unset.
func checkVariables(k *kong.Kong, environ []string) error {
	known := []string{adminTokenVariable, followTokenVariable}
	if err := kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	}); err != nil {
		return err
	}
	var problems []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, ownPrefix) || value == "" || slices.Contains(known, name) ||
			notSettings.MatchString(name) || serviceLink.MatchString(variable) {
			continue
		}
		distance := func(setting string) int {
			if strings.HasPrefix(setting, name) {
				return 0 // the name is a prefix of the setting
			}
			return letters.Edits(name, setting)
		}
		nearest := slices.MinFunc(known, func(a, b string) int { return distance(a) - distance(b) })
		problems = append(problems, fmt.Errorf("the variable %s is not a setting of riskdex; did you mean %s? Correct it, or remove it from the environment", name, nearest))
	}
	return errors.Join(problems...)
}

package admin

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// checkQuery returns an error if a part of the query would be ignored: net/url drops what
// it cannot parse, such as a type with a semicolon in it, and a misspelt name is never
// read. If such a part was a filter, the call would apply to everything. names are the
// allowed ones, separated by spaces.
func (r *request) checkQuery(names string) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest(fmt.Sprintf("The query cannot be read: %v. Percent-encode what names something.", err))
	}
	for name, values := range query {
		if !slices.Contains(strings.Fields(names), name) {
			return badRequest(fmt.Sprintf("%q is in the query, where this call takes no such name, but: %s.", name, cmp.Or(names, "none")))
		}
		if len(values) > 1 {
			return badRequest(fmt.Sprintf("%q is %d times in the query, and may be there once.", name, len(values)))
		}
	}
	return nil
}

package admin

import (
	"fmt"
	"net/url"
)

// checkQuery returns an error where a part of the query would go unseen. That part
// may be what says which few of all are meant: net/url leaves out what it cannot
// read, such as a type with a semicolon in it, and the rest is then for everything.
func (r *request) checkQuery() error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest(fmt.Sprintf("The query cannot be read: %v. Percent-encode what names something.", err))
	}
	for name, values := range query {
		if len(values) > 1 {
			return badRequest(fmt.Sprintf("%q is %d times in the query, and may be there once.", name, len(values)))
		}
	}
	return nil
}

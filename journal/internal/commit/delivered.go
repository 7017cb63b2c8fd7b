package commit

import "strings"

// DeliveredRows is the part of the statements of both engines that selects what came with
// the versions from $1 to $2. origins selects, with the same columns, what came with them and
// has a newer version now.
func DeliveredRows(origins string) string {
	return strings.ReplaceAll(`(SELECT version AS given, @ FROM documents AS d WHERE kind IN ('cities', 'advisories', 'special-reports') AND version BETWEEN $1 AND $2
		UNION ALL `+origins+`) AS delivered`, "@", "d.kind, d.id, d.version, d.op, d.state, d.error_type, d.reason")
}

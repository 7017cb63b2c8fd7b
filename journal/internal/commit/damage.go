package commit

import (
	"fmt"

	"riskdex/report"
)

// DamagedReason is the reason of the dead letter that a damaged record becomes.
func DamagedReason(k report.Key) string {
	return fmt.Sprintf("the record of %s %q in the journal is damaged: its checksum does not fit; have the publisher deliver it again", k.Kind, k.ID)
}

// MaxNamed bounds how many damaged records a report names.
const MaxNamed = 100

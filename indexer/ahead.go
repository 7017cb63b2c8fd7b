package indexer

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// errorTypeOutOfReach is the error type of the dead letter of a document whose version in the
// index is one that the journal must not pass.
const errorTypeOutOfReach = "version_out_of_reach"

// resolveConflicts looks up the documents for which an index refused a write as not the newest.
// It has that very version if an earlier attempt succeeded without an answer. Any other version
// did not come from this journal in its present state: somebody wrote by hand, the journal was
// set back, or its clock was ahead. Of such a change, the index is ahead. It gets a version above that
// of the index (raise), unless the journal has a newer one by then, or was set back after it.
func (x *Indexer) resolveConflicts(ctx context.Context, index string, batch []prepared, judgements []*judgement) {
	var ids []report.ID
	for i, j := range judgements {
		if j.conflict() {
			ids = append(ids, batch[i].change.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	has, err := x.versions(ctx, index, ids)
	var ahead []report.ID
	for i, j := range judgements {
		if !j.conflict() {
			continue
		}
		c := batch[i].change
		have, named := has[c.ID], currentVersion(j.answer.Detail)
		switch {
		case err != nil:
			*j = judgeError(err)
		case c.Op == report.Index && have.Version == c.Version, c.Op == report.Delete && !have.Found:
		case !max(have.Version, named).InReach(time.Now()):
			*j = judgement{verdict: elastic.Dead, reason: reasonVersion, answer: elastic.Answer{Level: elastic.LevelItem, Status: j.answer.Status, ErrorType: errorTypeOutOfReach,
				Detail: fmt.Sprintf("the index has version %d of it, which no clock has made and no delivery can pass; rebuild the index of %s, and retry this dead letter", max(have.Version, named), c.Kind)}}
		default:
			// A missing document was deleted; Elasticsearch forgets its version after a while.
			batch[i].ahead = max(have.Version, named)
			*j = judgement{verdict: elastic.IndexAhead, answer: j.answer}
			ahead = append(ahead, c.ID)
		}
	}
	x.checkAhead(ctx, batch[0].change.Kind, index, ahead)
}

// conflict reports whether an index refused a write because it has a version as new or newer.
func (j *judgement) conflict() bool {
	return j != nil && j.verdict == elastic.Superseded && j.answer.ErrorType == elastic.VersionConflict
}

// currentVersion parses the version in the text of a conflict, which may be that of a delete; 0
// if there is none.
func currentVersion(detail string) report.Version {
	_, rest, _ := strings.Cut(detail, "current version [")
	number, _, _ := strings.Cut(rest, "]")
	v, _ := strconv.ParseInt(number, 10, 64)
	return report.Version(v)
}

// raise has the journal give changes that the index is ahead of versions above those of the index.
// They are then sent again like any newer version.
func (x *Indexer) raise(ctx context.Context, kind report.Kind, batch []prepared, judgements []judgement) {
	var list []report.Ahead
	for i, j := range judgements {
		if c := batch[i].change; j.verdict == elastic.IndexAhead {
			list = append(list, report.Ahead{Stamp: report.Stamp{Key: c.Key, Version: c.Version}, Index: max(batch[i].ahead, c.Version)})
		}
	}
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	n, err := x.journal.RaiseVersions(ctx, list)
	x.metrics.overtaken.WithLabelValues(string(kind)).Add(float64(n))
	if err != nil {
		x.log.Error("an index has versions ahead of the journal, and the journal cannot give out higher ones; the changes are sent again as they are", "kind", kind, "changes", len(list), "error", err)
	}
	if n == 0 {
		return
	}
	if ok, _ := x.warned.Allow(string(kind), time.Now()); ok {
		x.log.Warn("the index has versions that are ahead of the journal: documents were written by hand, the journal was restored, or a clock was ahead; what the journal has is sent again above them",
			"kind", kind, "documents", n, "id", list[0].ID, "version", list[0].Version, "version_in_index", list[0].Index)
	}
}

// warnEvery is how often one kind is warned of at most.
const warnEvery = time.Minute

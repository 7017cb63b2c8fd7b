package admin

import (
	"fmt"
	"slices"
	"strings"

	"riskdex/report"
)

// judge says what state a document is in, in one sentence. What a search shows comes first:
// it is what apps see, whatever the journal has noted so far.
func (s *statuses) judge(doc *Document, d report.Document, waiting []report.Waiting) {
	set := func(state, says, remedy string) { doc.State, doc.Says, doc.Remedy = state, says, remedy }
	came := "came at " + d.AcceptedAt.Format(documentClockForm)
	x := doc.Index
	switch {
	case d.Op == report.Delete && x != nil && x.Searchable == 0 && x.Version == 0:
		doc.Searchable = true
		set(DocumentDeleted, "Deleted, and no search finds it; the delete "+came+".", "")
	case d.Op == report.Index && x != nil && x.Searchable == d.Version && len(x.Differ) == 0 && d.Lost == report.NotLost:
		doc.Searchable = true
		set(DocumentSearchable, "A search finds the newest record, which "+came+".", "")
	case d.Lost == report.LostDamaged:
		set(DocumentDamaged, "Its record in the journal is damaged, and is never given out.", "Ask the publisher to deliver it again")
	case d.State == report.StateDead:
		set(DocumentDead, fmt.Sprintf("Elasticsearch refuses the newest change, which %s: %s: %s%s", came, d.ErrorType, ended(d.Reason), shownInstead(x)),
			"riskdex dead show "+string(d.Kind)+" ID, and riskdex dead retry once the cause is fixed")
	case d.State == report.StateDropped:
		set(DocumentDropped, "Elasticsearch refused the newest change, which "+came+", and somebody dropped it."+shownInstead(x), "Ask the publisher to deliver it again")
	case d.State == report.StatePending:
		set(DocumentWaiting, fmt.Sprintf("It waits since %s: %s.%s", d.WaitingSince.Format(documentClockForm), s.waitsFor(d.Kind, waiting), shownInstead(x)), waitRemedy(d.Kind, waiting))
	case x == nil:
		set(DocumentNotAsked, "The journal has it as done at "+d.EndedAt.Format(documentClockForm)+", but Elasticsearch does not say what it has: "+ended(doc.IndexError), "")
	case d.State == report.StateResending:
		set(DocumentWaiting, "It is sent once more, to fill or repair the index."+shownInstead(x), "")
	case d.Op == report.Delete && x.Version == 0:
		set(DocumentWaiting, "The index has deleted it, and a search shows that with the next refresh."+shownInstead(x), "")
	case x.Version == d.Version && x.Searchable != d.Version:
		set(DocumentWaiting, "The index has it, and a search finds it with the next refresh."+shownInstead(x), "")
	case x.Searchable == d.Version:
		set(DocumentDiffers, "A search finds the newest version, but not as the record is: "+strings.Join(x.Differ, ", ")+". The mapping files have changed, or somebody has written to the index.", "riskdex rebuild "+string(d.Kind))
	case x.Searchable > d.Version:
		set(DocumentDiffers, fmt.Sprintf("A search finds version %d, which is newer than that of the journal: another journal has written to the index, or this one is an old copy.", x.Searchable), "riskdex verify "+string(d.Kind))
	default:
		set(DocumentDiffers, "The journal has it as done at "+d.EndedAt.Format(documentClockForm)+", but the index has lost it."+shownInstead(x), "riskdex verify --repair "+string(d.Kind))
	}
}

// shownInstead says what a search shows in place of the newest version.
func shownInstead(x *Indexed) string {
	switch {
	case x == nil:
		return ""
	case x.Searchable == 0:
		return " A search does not find it."
	}
	return fmt.Sprintf(" A search finds version %d.", x.Searchable)
}

// ended returns a sentence with its end.
func ended(sentence string) string {
	if strings.HasSuffix(sentence, ".") {
		return sentence
	}
	return sentence + "."
}

func indexOfKind(kind report.Kind, waiting []report.Waiting) (report.Waiting, bool) {
	i := slices.IndexFunc(waiting, func(w report.Waiting) bool { return w.Kind == kind })
	if i < 0 {
		return report.Waiting{}, false
	}
	return waiting[i], true
}

// waitsFor says why a document waits.
func (s *statuses) waitsFor(kind report.Kind, waiting []report.Waiting) string {
	w, is := indexOfKind(kind, waiting)
	switch {
	case is && w.Reason == ReasonAnotherJournal:
		return "this journal does not fill the index " + w.Index + ": " + w.Detail
	case is && w.Paused:
		return fmt.Sprintf("the index %s is held since %s: %s", w.Index, w.Since.UTC().Format(documentClockForm), strings.TrimSuffix(heldReason(w, held[w.Reason].is), "."))
	case is:
		return fmt.Sprintf("nothing gets through to the index %s since %s: %s", w.Index, w.Since.UTC().Format(documentClockForm), strings.TrimSuffix(strings.TrimSpace(w.Reason+": "+w.Detail), "."))
	case s.Health.ElasticsearchUp != nil && !s.Health.ElasticsearchUp():
		return "Elasticsearch is away"
	}
	return "it is on its way"
}

func waitRemedy(kind report.Kind, waiting []report.Waiting) string {
	w, is := indexOfKind(kind, waiting)
	switch {
	case is && w.Reason == ReasonAnotherJournal:
		return "riskdex status says what to do"
	case is && w.Paused:
		return plain(heldRemedy(w, held[w.Reason].remedy))
	}
	return ""
}

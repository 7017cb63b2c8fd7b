package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

// shownPerList is how many items of each list are shown, so that all lists fit on one screen.
const shownPerList = 5

// printStatus writes the same as the status page shows.
func printStatus(w io.Writer, st admin.Status) {
	paint := painter(useColour(w))
	fmt.Fprintln(w, paint.text(bold, st.Headline())+lastDelivery(st))
	for _, t := range st.Troubles {
		fmt.Fprintf(w, "  %s, %s: %s\n    %s\n", t.Severity, t.What, sanitize.OneLine(t.Detail), sanitize.OneLine(t.Remedy))
	}
	fmt.Fprintln(w)
	kinds := newTable("KIND", "DOCUMENTS", "LAST DELIVERY", "PENDING", "LAG", "DEAD", "RECENT LAG")
	for _, k := range st.Kinds {
		documents := "not known"
		if k.Documents != nil {
			documents = humanize.Comma(int64(*k.Documents))
		}
		pending := humanize.Comma(int64(k.Pending))
		if k.Resending > 0 {
			pending += fmt.Sprintf(" + %s again", humanize.Comma(int64(k.Resending)))
		}
		kinds.add(string(k.Kind), documents, lastOf(k.Delivered), pending, lagText(k.LagSeconds), humanize.Comma(int64(k.DeadLetters)), lagLine(k.History))
	}
	kinds.print(w)
	for _, k := range st.Kinds {
		if k.Holder != "" {
			fmt.Fprintf(w, "%s: locked by %s, to rebuild it or to fill its index again\n", k.Kind, sanitize.OneLine(k.Holder))
		}
	}
	fmt.Fprintln(w)
	printFacts(w, overallFacts(st)...)
	printWaiting(w, st)
	printFailed(w, st)
	if len(st.Deliveries) > 0 {
		fmt.Fprintln(w)
		last := newTable("LAST DELIVERIES"+ofThisProcess(st), "METHOD", "DOCUMENT", "ANSWER", "")
		for _, d := range st.Deliveries[:min(shownPerList, len(st.Deliveries))] {
			last.add(ago(d.At), d.Method, documentOf(d), strconv.Itoa(d.Status), outcome(d))
		}
		last.print(w)
	}
}

// lastDelivery says when the last delivery was accepted, for the end of a line.
func lastDelivery(st admin.Status) string {
	switch last := st.LastDelivery(); {
	case last != nil:
		return "; last delivery " + ago(*last)
	case len(st.Kinds) > 0:
		return "; nothing was ever delivered"
	}
	return ""
}

func lastOf(a admin.Arrived) string {
	if a.Last == nil {
		return "none"
	}
	return ago(*a.Last)
}

// ofThisProcess is added to headings about one process, if several share the journal.
func ofThisProcess(st admin.Status) string {
	if st.Shared() {
		return ", FOR THIS PROCESS"
	}
	return ""
}

// documentOf returns which document a delivery was for, or its path if that is not known.
func documentOf(d report.Answered) string {
	if d.Path != "" {
		return sanitize.ShellWord(d.Path)
	}
	text := string(d.Kind)
	if d.ID != "" {
		text += " " + sanitize.ShellWord(d.ID)
	}
	if others := d.Accepted + d.Refused - 1; others > 0 {
		text += fmt.Sprintf(" and %s more", humanize.Comma(int64(others)))
	}
	return text
}

func outcome(d report.Answered) string {
	var parts []string
	if d.Accepted > 0 {
		parts = append(parts, humanize.Comma(int64(d.Accepted))+" accepted")
	}
	if d.Refused > 0 {
		parts = append(parts, humanize.Comma(int64(d.Refused))+" refused")
	}
	return strings.Join(append(parts, nonEmpty([]string{d.Reason})...), ", ")
}

// overallFacts returns names and values of the facts that are not about one kind.
func overallFacts(st admin.Status) []string {
	yes := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	facts := []string{"deliveries", yes(st.Accepting, "accepted", "turned away") + strings.ToLower(ofThisProcess(st))}
	for _, s := range st.Senders {
		facts = append(facts, "from "+sanitize.OneLine(s.Sender), lastOf(s))
	}
	if st.Follows != nil {
		facts[0], facts[1] = "follows", sanitize.OneLine(st.Follows.String())
	}
	facts = append(facts,
		"index", "Elasticsearch is "+st.Elasticsearch()+strings.ToLower(ofThisProcess(st)),
	)
	if j := st.Journal; j != nil {
		room := humanize.IBytes(uint64(j.Bytes)) + " on disk"
		if j.WAL > 0 {
			room += fmt.Sprintf(", of which %s is its write-ahead log", humanize.IBytes(uint64(j.WAL)))
		}
		if j.Limit > 0 {
			room += fmt.Sprintf("; %s count toward its limit of %s", humanize.IBytes(uint64(j.Used)), humanize.IBytes(uint64(j.Limit)))
		}
		if j.Free >= 0 {
			room += fmt.Sprintf("; its disk has %s left", humanize.IBytes(uint64(j.Free)))
		}
		backup := "riskdex never made one"
		if j.BackupAt != nil {
			backup = "made " + agoAndAt(*j.BackupAt)
		}
		facts = append(facts, "journal", room, "backup", backup)
		if h := j.History; h != nil {
			facts = append(facts, "history", historyText(*h))
		}
	}
	facts = append(facts, "started", agoAndAt(st.StartedAt), "process", sanitize.OneLine(st.Process))
	if st.Shared() {
		facts = append(facts, "shared by", sanitize.OneLine(strings.Join(st.Processes, ", ")))
	}
	return facts
}

// historyText says how much history there is, and why it does not reach back further.
func historyText(h admin.HistoryStatus) string {
	text := fmt.Sprintf("%s versions of %s", humanize.Comma(int64(h.Entries)), humanize.IBytes(uint64(h.Bytes)))
	if h.Since != nil {
		text += " since " + h.Since.Format("2006-01-02 15:04:05 UTC")
	}
	if h.KeepSeconds == 0 {
		text += "; history is off, so nothing more is kept, and riskdex serve --history 0 drops this"
	}
	if h.Note != "" {
		text += "; " + h.Note
	}
	return sanitize.OneLine(text)
}

func printWaiting(w io.Writer, st admin.Status) {
	if len(st.Waiting) > 0 {
		fmt.Fprintln(w)
		waiting := newTable("WAITING INDEX"+ofThisProcess(st), "SINCE", "WHY", "WHAT ELASTICSEARCH SAYS")
		for _, x := range st.Waiting {
			why := x.Reason
			if x.Paused {
				why = "held: " + why
			}
			waiting.add(x.Index, ago(x.Since), why, x.ErrorType+" "+x.Detail)
		}
		waiting.print(w)
	}
	if len(st.Rebuilds) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, painter(useColour(w)).text(bold, "REBUILDS"+ofThisProcess(st)))
		for _, r := range st.Rebuilds {
			line := rebuildLine(r)
			if r.Reason != "" {
				line += ": " + r.Reason
			}
			fmt.Fprintf(w, "  %s\n", sanitize.OneLine(line))
		}
	}
}

func printFailed(w io.Writer, st admin.Status) {
	if len(st.Dead) > 0 {
		fmt.Fprintln(w)
		dead := newTable("DEAD LETTERS", "SINCE", "WHY")
		for _, l := range st.Dead[:min(shownPerList, len(st.Dead))] {
			dead.add(string(l.Kind)+" "+sanitize.ShellWord(string(l.ID)), ago(l.DeadAt), l.ErrorType+" "+l.Reason)
		}
		dead.print(w)
		fmt.Fprintf(w, "%s: riskdex dead list\n", count(st.DeadTotal, "dead letter", "dead letters"))
	}
	if len(st.Refused) > 0 {
		fmt.Fprintln(w)
		refused := newTable("REFUSED", "AT", "WHY")
		for _, r := range st.Refused[:min(shownPerList, len(st.Refused))] {
			refused.add(strconv.FormatInt(r.Number, 10)+" "+r.Method+" "+r.Path, ago(r.At), r.Reason+" "+r.Detail)
		}
		refused.print(w)
		fmt.Fprintf(w, "%s: riskdex refused list\n", count(st.RefusedTotal, "refused delivery is kept", "refused deliveries are kept"))
	}
}

func lagText(seconds float64) string {
	if seconds == 0 {
		return "none"
	}
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// smallestScale is the smallest lag, in seconds, that a full block may stand for.
const smallestScale = 10

// lagLine draws a history as one block per minute.
func lagLine(history []admin.Sample) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	worst := float64(smallestScale)
	for _, s := range history {
		worst = max(worst, s.LagSeconds)
	}
	var line strings.Builder
	for i, s := range history {
		if i > 0 {
			gap := int(s.Minute.Sub(history[i-1].Minute)/time.Minute) - 1
			line.WriteString(strings.Repeat("·", min(max(gap, 0), 60)))
		}
		line.WriteRune(blocks[int(min(s.LagSeconds/worst, 1)*float64(len(blocks)-1))])
	}
	return line.String()
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/dustin/go-humanize"

	"riskdex/admin"
	"riskdex/internal/sanitize"
	"riskdex/report"
)

type verifyCommand struct {
	adminSettings
	sure
	Kind          string `arg:"" optional:"" enum:",cities,advisories,special-reports" default:"" help:"Only this kind: cities, advisories or special-reports."`
	Repair        bool   `name:"repair" help:"Send again what differs, and remove what the journal does not know."`
	RemoveForeign bool   `name:"remove-foreign" help:"With --repair: also remove or overwrite what may come from another journal. Use it only if you are certain that this journal is the right one."`
	JSON          bool   `name:"json" help:"Print one JSON object per finding, one per kind at its end, and {waiting: …} every few seconds while Elasticsearch or the journal does not answer."`
}

// Run verifies. The error is errNegative if something differs and was not repaired.
func (c *verifyCommand) Run(ctx context.Context, io streams, in input) error {
	if c.RemoveForeign && !c.Repair {
		return errors.New("--remove-foreign says how to repair: add --repair")
	}
	client, err := c.client(io)
	if err != nil {
		return err
	}
	if c.RemoveForeign {
		if err := c.confirm(ctx, client, in, "Remove from the indices what this journal does not know, and overwrite what is newer there?"); err != nil {
			return err
		}
	}
	if c.Repair {
		if err := client.guard(ctx); err != nil {
			return err
		}
	}
	q := query("kind", c.Kind)
	for flag, set := range map[string]bool{"repair": c.Repair, "remove_foreign": c.RemoveForeign} {
		if set {
			q.Set(flag, "true")
		}
	}
	res, err := client.open(ctx, http.MethodPost, "/api/verify", q, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	s := &verifyScreen{command: c, io: io, progress: newProgress(io.err), lines: json.NewEncoder(io.out)}
	err = s.read(res.Body, len(kindsOr(c.Kind)))
	s.progress.clear()
	switch {
	case ctx.Err() != nil:
		return errors.New("verification stopped; repairs that were ordered are carried out nevertheless")
	case err != nil:
		return err
	case s.failed:
		return errors.New("not all could be verified")
	case s.wrong:
		return errNegative
	}
	return nil
}

// verifyScreen shows the events of a verification.
type verifyScreen struct {
	command  *verifyCommand
	io       streams
	progress *progress
	lines    *json.Encoder
	failed   bool // a kind could not be compared
	wrong    bool // something differs and was not repaired
}

// read shows events until the reports of that many kinds have come.
func (s *verifyScreen) read(body io.Reader, reports int) error {
	for events := json.NewDecoder(body); reports > 0; {
		var e admin.VerifyEvent
		if err := events.Decode(&e); err != nil {
			return fmt.Errorf("the verification was interrupted: %w", err)
		}
		var err error
		switch {
		case e.Progress != nil:
			s.progress.show(verifyingLine(*e.Progress))
		case e.Waiting != nil:
			err = s.waiting(*e.Waiting)
		case e.Finding != nil:
			err = s.finding(*e.Finding)
		case e.Report != nil:
			reports--
			err = s.report(*e.Report)
		}
		if err != nil {
			return fmt.Errorf("print what was found: %w", err)
		}
	}
	return nil
}

func verifyingLine(p report.VerifyProgress) string {
	doing := map[string]string{
		"journal": "looking in the index for what the journal has",
		"count":   "counting what the journal does not know",
		"index":   "looking in the journal for what the index has",
	}[p.Phase]
	if doing == "" {
		doing = p.Phase
	}
	return fmt.Sprintf("%s: %s: %s%s, %d found", p.Kind, doing, humanize.Comma(int64(p.Done)), percent(int64(p.Done), int64(p.Total)), p.Found)
}

func (s *verifyScreen) waiting(w report.Waiting) error {
	if w.EndedAt.IsZero() {
		s.progress.awaits(&w)
		s.progress.show(fmt.Sprintf("%s: has waited for %s", w.Kind, lasted(&w)))
	} else {
		s.progress.awaits(nil)
	}
	if s.command.JSON {
		return s.lines.Encode(admin.VerifyEvent{Waiting: &w})
	}
	return nil
}

func (s *verifyScreen) finding(f report.VerifyFinding) error {
	s.progress.clear()
	if s.command.JSON {
		return s.lines.Encode(f)
	}
	repaired := ""
	if f.Repaired {
		repaired = "; repaired"
	}
	_, err := fmt.Fprintf(s.io.out, "%-8s %s %s: %s%s\n", f.Problem, f.Kind, sanitize.ShellWord(string(f.ID)), difference(f), repaired)
	return err
}

// difference returns how the index and the journal differ in a document.
func difference(f report.VerifyFinding) string {
	journal := fmt.Sprintf("the journal has version %d", f.JournalVersion)
	switch {
	case f.JournalVersion == 0:
		journal = "the journal does not know it"
	case f.Deleted:
		journal = fmt.Sprintf("by the journal it is deleted, as version %d", f.JournalVersion)
	}
	if f.IndexVersion == 0 {
		return journal + ", the index does not have it"
	}
	return fmt.Sprintf("%s, the index has version %d", journal, f.IndexVersion)
}

// known returns what the journal has, in terms that explain how many documents the index has.
func known(r report.VerifyReport) string {
	text := count(r.Live, "document", "documents")
	if r.Refused > 0 {
		text += fmt.Sprintf(" (%s refused by Elasticsearch)", humanize.Comma(int64(r.Refused)))
	}
	if r.Deleted > 0 {
		text += fmt.Sprintf(" and %s deleted", humanize.Comma(int64(r.Deleted)))
	}
	return text
}

func (s *verifyScreen) report(r report.VerifyReport) error {
	s.progress.clear()
	found := r.Missing + r.Stale + r.Foreign
	s.failed = s.failed || r.Error != ""
	s.wrong = s.wrong || found > r.Repaired
	if s.command.JSON {
		return s.lines.Encode(r)
	}
	line := fmt.Sprintf("%s: %s in the journal, %s in the index, %d under way: ", r.Kind,
		known(r), humanize.Comma(int64(r.Indexed)), r.UnderWay)
	switch {
	case r.Error != "":
		line = fmt.Sprintf("%s: not compared to the end", r.Kind)
	case found == 0:
		line += "nothing differs"
	default:
		line += fmt.Sprintf("%d missing, %d stale, %d foreign", r.Missing, r.Stale, r.Foreign)
	}
	if s.command.Repair && found > 0 {
		line += fmt.Sprintf("; %d repaired", r.Repaired)
		if waiting := r.Ordered - r.Repaired; waiting > 0 {
			line += fmt.Sprintf(", %d still being sent", waiting)
		}
		if r.Kept > 0 {
			line += fmt.Sprintf(", %d foreign ones left alone", r.Kept)
		}
	}
	fmt.Fprintln(s.io.out, line)
	if r.Error != "" {
		fmt.Fprintln(s.io.err, sanitize.OneLine(r.Error))
	}
	if r.Advice != "" {
		fmt.Fprintln(s.io.err, sanitize.OneLine(r.Advice))
	}
	return nil
}

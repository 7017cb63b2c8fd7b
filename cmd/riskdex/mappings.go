package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"riskdex/internal/sanitize"
	"riskdex/mappings"
	"riskdex/receiver"
	"riskdex/report"
)

type mappingsCommand struct {
	Check  mappingsCheckCommand  `cmd:"" help:"Check mapping files, and show what they make of a record."`
	Learn  mappingsLearnCommand  `cmd:"" help:"Propose a mapping file from the records of a feed."`
	Show   mappingsShowCommand   `cmd:"" help:"Show how a running riskdex reads the records of a kind, and what it does not find."`
	Export mappingsExportCommand `cmd:"" help:"Write the built-in mapping files to a new folder."`
}

type mappingsCheckCommand struct {
	Paths  []string `arg:"" optional:"" name:"dir-or-file" help:"Folders for --mappings, or single files of them; the built-in files if none is given."`
	Record string   `name:"record" placeholder:"RECORD.json" help:"Show which values of this record go to which fields."`
	Kind   string   `name:"kind" enum:",cities,advisories,special-reports" default:"" placeholder:"KIND" help:"The kind of the record."`
	JSON   bool     `name:"json" help:"Print one JSON object per mistake or field."`
	namesSettings
}

// Run checks mapping files. The error is errNegative if there are mistakes.
func (c *mappingsCheckCommand) Run(io streams) error {
	if (c.Record == "") != (c.Kind == "") {
		return errors.New("--record and --kind belong together: give both or neither")
	}
	if c.Record != "" && len(c.Paths) > 1 {
		return errors.New("--record is shown with one mapping: give one folder, one file, or none for the built-in files")
	}
	set, wrong, err := c.load()
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		if err := c.printMistakes(io, wrong); err != nil {
			return err
		}
		return errNegative
	}
	if c.Record != "" {
		return c.explain(io, set)
	}
	if !c.JSON {
		fmt.Fprintln(io.out, "no mistakes")
	}
	return nil
}

// load reads all the files to check. It returns the mappings that were read last, and the
// mistakes in all of them.
func (c *mappingsCheckCommand) load() (set *mappings.Set, wrong mappings.Mistakes, err error) {
	if len(c.Paths) == 0 {
		set, err = mappings.Builtin()
		return set, nil, err
	}
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, fmt.Errorf("check mappings: %w", err)
		}
		if info.IsDir() {
			set, err = mappings.Load(os.DirFS(path))
		} else {
			var data []byte
			if data, err = os.ReadFile(path); err != nil {
				return nil, nil, fmt.Errorf("check mappings: %w", err)
			}
			set, err = mappings.LoadWith(filepath.Base(path), data)
			path = filepath.Dir(path)
		}
		found, ok := errors.AsType[mappings.Mistakes](err)
		if err != nil && !ok {
			return nil, nil, fmt.Errorf("check the mappings in %s: %w", path, err)
		}
		for _, m := range found {
			m.File = filepath.Join(path, m.File)
			wrong = append(wrong, m)
		}
	}
	return set, wrong, nil
}

// printMistakes writes one line per mistake in the form of compilers, which editors can jump
// to.
func (c *mappingsCheckCommand) printMistakes(io streams, wrong mappings.Mistakes) error {
	for _, m := range wrong {
		if !c.JSON {
			at := m.File
			if m.Line > 0 {
				at = fmt.Sprintf("%s:%d", m.File, m.Line)
			}
			fmt.Fprintf(io.out, "%s: %s\n", at, sanitize.OneLine(m.Reason))
			continue
		}
		if err := json.NewEncoder(io.out).Encode(map[string]any{"file": m.File, "line": m.Line, "reason": m.Reason}); err != nil {
			return fmt.Errorf("print a mistake: %w", err)
		}
	}
	return nil
}

func (c *mappingsCheckCommand) explain(io streams, set *mappings.Set) error {
	record, err := os.ReadFile(c.Record)
	if err != nil {
		return fmt.Errorf("read the record: %w", err)
	}
	kind := report.Kind(c.Kind) // kong has checked it
	found, err := set.Examine(kind, record)
	if err != nil {
		return fmt.Errorf("%s: making a document of the record: %w", c.Record, err)
	}
	builtin, err := mappings.Builtin()
	if err != nil {
		return err
	}
	fields, idle := found.Fields, set.OnlyHere(kind, found.Idle, builtin)
	cfg := receiver.DefaultConfig()
	if err := c.addTo(&cfg); err != nil {
		return err
	}
	names, err := cfg.Names(kind, record)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Record, err)
	}
	found.Unread = slices.DeleteFunc(found.Unread, func(f mappings.FieldSource) bool { return f.Pointer == names.IDAt })
	if c.JSON {
		if err := printFieldsJSON(io, append(idFields(names), fields...)); err != nil {
			return err
		}
		return printUnreadJSON(io, found.Unread, idle)
	}
	if err := printFields(io, append(idFields(names), fields...)); err != nil {
		return err
	}
	if err := printUnread(io, found.Unread, idle); err != nil {
		return err
	}
	fmt.Fprint(io.out, "\n"+identityOf(report.Kind(c.Kind), names)+"\n")
	return nil
}

// idFields returns the id that a record states in the form of a field, because it becomes the
// _id of the document.
func idFields(n receiver.Names) []mappings.FieldSource {
	if n.ID == "" {
		return nil
	}
	value, _ := json.Marshal(n.ID) // a string, which never fails
	return []mappings.FieldSource{{Field: "_id", Value: value, Pointer: n.IDAt}}
}

// identityOf says in a sentence which document a delivery of the record is for.
func identityOf(kind report.Kind, n receiver.Names) string {
	id := sanitize.OneLine(shortened(n.ID))
	switch {
	case n.ID != "" && kind == report.Cities:
		return fmt.Sprintf("a POST is for the document %s; so is a PUT, unless its path is another known id: then it is for that one, and counted in riskdex_id_mismatches_total", id)
	case n.ID != "":
		return fmt.Sprintf("a POST is for the document %s; a PUT is for the one in its path: if that is another one, it is counted in riskdex_id_mismatches_total", id)
	case n.Code != "" && kind == report.Cities:
		return fmt.Sprintf("the record states no id: a POST goes by the code %s, and a PUT by its path", sanitize.OneLine(shortened(n.Code)))
	}
	return "the record states no id: a POST of it is refused, and a PUT goes by its path; set --ids to say where ids are"
}

func printFieldsJSON(io streams, fields []mappings.FieldSource) error {
	lines := json.NewEncoder(io.out)
	lines.SetEscapeHTML(false)
	for _, f := range fields {
		line := map[string]any{"field": f.Field, "value": json.RawMessage(f.Value), "pointer": f.Pointer, "fits": f.Reason == ""}
		if f.Reason != "" {
			line["reason"] = f.Reason
		}
		if f.Guessed {
			line["by_name"] = true
		}
		if f.Because != "" {
			line["because"] = f.Because
		}
		if err := lines.Encode(line); err != nil {
			return fmt.Errorf("print a field: %w", err)
		}
	}
	return nil
}

// printFields writes two tables: the values that went to fields, and those that were left
// out.
func printFields(io streams, fields []mappings.FieldSource) error {
	var in, out []mappings.FieldSource
	for _, f := range fields {
		if f.Reason == "" {
			in = append(in, f)
		} else {
			out = append(out, f)
		}
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	if len(in) == 0 {
		fmt.Fprintln(table, "nothing of the record goes to a field; is it one record, without an envelope around it?")
	}
	for _, f := range in {
		told := ""
		if f.Guessed {
			told = "\t(by its name)"
		} else if f.Because != "" {
			told = "\t(" + sanitize.OneLine(f.Because) + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s%s\n", f.Field, shortened(string(f.Value)), where(f), told)
	}
	if len(out) > 0 {
		fmt.Fprint(table, "\nleft out, because they do not fit:\n")
	}
	for _, f := range out {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Field, shortened(string(f.Value)), where(f), f.Reason)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the fields: %w", err)
	}
	return nil
}

// maxUnread bounds how many of the values are shown that went to no field.
const maxUnread = 20

// printUnread writes the values that are in no field and not in text, and those of the
// operator's pointers that lead to no value.
func printUnread(io streams, unread []mappings.FieldSource, idle []mappings.Idle) error {
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	if len(unread) > 0 {
		fmt.Fprint(table, "\nin no field and not in text, so no search finds them:\n")
	}
	for i, f := range unread {
		if i == maxUnread {
			fmt.Fprintf(table, "and %d more\n", len(unread)-i)
			break
		}
		fmt.Fprintf(table, "%s\t%s\n", where(f), shortened(string(f.Value)))
	}
	if len(idle) > 0 {
		fmt.Fprint(table, "\npointers of yours that lead nowhere in this record:\n")
	}
	for _, i := range idle {
		fmt.Fprintf(table, "%s\t%s\n", i.Field, sanitize.OneLine(i.Pointer))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print what was left: %w", err)
	}
	return nil
}

func printUnreadJSON(io streams, unread []mappings.FieldSource, idle []mappings.Idle) error {
	lines := json.NewEncoder(io.out)
	lines.SetEscapeHTML(false)
	for _, f := range unread {
		if err := lines.Encode(map[string]any{"unread": f.Pointer, "value": json.RawMessage(f.Value)}); err != nil {
			return fmt.Errorf("print what was left: %w", err)
		}
	}
	for _, i := range idle {
		if err := lines.Encode(map[string]any{"idle": i.Pointer, "field": i.Field}); err != nil {
			return fmt.Errorf("print what was left: %w", err)
		}
	}
	return nil
}

// where returns the pointer to a value. The empty pointer means the record itself.
func where(f mappings.FieldSource) string {
	if f.Pointer == "" {
		return "(the record)"
	}
	return sanitize.OneLine(f.Pointer)
}

// shortened returns the start of a value on one line.
func shortened(value string) string {
	const most = 60 // characters
	letters := []rune(sanitize.OneLine(value))
	if len(letters) <= most {
		return string(letters)
	}
	return strings.TrimSpace(string(letters[:most])) + "…"
}

type mappingsExportCommand struct {
	Dir string `arg:"" help:"A folder that does not exist, or is empty."`
}

// Run writes the built-in files.
func (c *mappingsExportCommand) Run(io streams) error {
	there, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("export the mappings: %w", err)
	}
	if len(there) > 0 {
		return fmt.Errorf("export the mappings: %s is not empty; name a new folder", c.Dir)
	}
	if err := os.CopyFS(c.Dir, mappings.Files()); err != nil {
		return fmt.Errorf("export the mappings: %w", err)
	}
	fmt.Fprintf(io.out, "the mapping files are in %s; start riskdex with --mappings %s\n", c.Dir, c.Dir)
	return nil
}

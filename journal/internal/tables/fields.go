package tables

import (
	"strconv"
	"strings"

	"riskdex/journal/internal/commit"
)

// Field is a column of a row in memory: At is where it is read to and written from.
type Field struct {
	Name string
	At   any // *Int, *Word, *Text, *Flag or *Bytes
}

// Fields are columns of a row.
type Fields []Field

// RowFields are the columns of documents, but for the body and those of one engine. They are in an order in
// which those that one statement writes stand together ([KeyFields] and following).
func RowFields(r *commit.Row) Fields {
	return append(make(Fields, 0, 20), Fields{ // with room for those of one engine
		{"kind", (*Word)(&r.Kind)}, {"id", (*Text)(&r.ID)},
		{"op", (*Word)(&r.Op)}, {"code", (*Text)(&r.Code)},
		{"accepted_at", (*Int)(&r.AcceptedAt)},
		{"version", (*Int)(&r.Version)}, {"waiting_since", (*Int)(&r.WaitedAt)}, {"ended_at", (*Int)(&r.EndedAt)}, {"crc", (*Int)(&r.CRC)},
		{"origin", (*Int)(&r.Origin)}, {"kept", (*Int)(&r.Kept)}, {"alone", (*Flag)(&r.CodeOnly)}, {"trace", (*Text)(&r.Trace)},
		{"state", (*Int)(&r.State)}, {"error_type", (*Text)(&r.ErrorType)}, {"reason", (*Text)(&r.Reason)},
	}...)
}

// Where a part of RowFields ends: the key, what seldom changes, what each delivery brings, and what is special
// in some. The rest is of its end.
const (
	KeyFields     = 2
	NamedFields   = 4
	DatedFields   = 5
	ContentFields = 9
	SpecialFields = 13
)

// LoadFields are RowFields with how many bytes the body has, to be read.
func LoadFields(r *commit.Row) Fields {
	return append(RowFields(r), Field{Length, (*Int)(&r.Bytes)})
}

// PastFields are the columns of the history, but for the body.
func PastFields(r *commit.HistoryRow) Fields {
	by, old := &r.Source, &r.Old
	return Fields{
		{"kind", (*Word)(&r.Key.Kind)}, {"id", (*Text)(&r.Key.ID)},
		{"version", (*Int)(&r.Version)}, {"op", (*Word)(&r.Op)}, {"at", (*Int)(&r.At)}, {"bytes", (*Int)(&r.Bytes)},
		{"sender", (*Text)(&by.Sender)}, {"address", (*Text)(&by.Address)}, {"call", (*Text)(&by.Call)}, {"request", (*Text)(&by.Request)},
		{"old_version", (*Int)(&old.Version)}, {"old_op", (*Word)(&old.Op)}, {"old_code", (*Text)(&old.Code)}, {"old_at", (*Int)(&old.At)},
		{"old_state", (*Int)(&old.State)}, {"old_ended", (*Int)(&old.Ended)}, {"old_crc", (*Int)(&old.CRC)}, {"old_bytes", (*Int)(&old.Bytes)},
		{"old_form", (*Int)(&old.Form)},
	}
}

// List returns a list of columns in a form, in which @ is the name and # the number, counted from 1.
func (f Fields) List(form string) string {
	list := make([]string, len(f))
	for i := range f {
		list[i] = strings.NewReplacer("@", f[i].Name, "#", strconv.Itoa(i+1)).Replace(form)
	}
	return strings.Join(list, ", ")
}

// Targets returns where the columns are scanned to.
func (f Fields) Targets() []any {
	list := make([]any, len(f))
	for i := range f {
		list[i] = f[i].At
	}
	return list
}

// Values returns what is written to the columns.
func (f Fields) Values() []any {
	list := make([]any, len(f), len(f)+4)
	for i := range f {
		switch at := f[i].At.(type) {
		case *Int:
			list[i] = int64(*at)
		case *Word:
			list[i] = string(*at)
		case *Text:
			list[i] = string(*at)
		case *Flag:
			list[i] = bool(*at)
		}
	}
	return list
}

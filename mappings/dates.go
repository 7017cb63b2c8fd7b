package mappings

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"riskdex/internal/vocabulary"
)

// A number from minSeconds (1973) on is a Unix time in seconds; from minMillis on, which no
// date in seconds reaches, it is in milliseconds. A smaller number is more likely a date
// such as 20260731 or a counter.
const (
	minSeconds = 1e8
	minMillis  = 1e11
	maxMillis  = 1e14
)

// parseTime reads a date or a time as feeds write them. A time without a zone is in UTC.
// wholeDay reports whether s is a date without a time of day.
func parseTime(s []byte) (t time.Time, wholeDay, ok bool) {
	if len(s) == 0 || len(s) > 40 || s[0] < '0' || s[0] > '9' {
		return time.Time{}, false, false
	}
	if !bytes.ContainsAny(s, "-:") {
		return unixTime(string(s))
	}
	text := string(s)
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, true, t.Year() > 0
	}
	for _, layout := range []string{
		time.RFC3339,
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04:05",
		"2006-01-02T15:04Z07:00",
		"2006-01-02T15:04",
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05 Z0700",
		time.DateTime,
		"2006-01-02 15:04",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			t = t.UTC()
			return t, false, t.Year() > 0 && t.Year() < 10_000
		}
	}
	return time.Time{}, false, false
}

// isTime reports whether s is a date or a time as parseTime reads it.
func isTime(s []byte) bool {
	_, _, ok := parseTime(s)
	return ok
}

func unixTime(s string) (t time.Time, wholeDay, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return time.Time{}, false, false
	case n >= minMillis && n < maxMillis:
		return time.UnixMilli(int64(n)).UTC(), false, true
	case n >= minSeconds && n < minMillis:
		return time.UnixMilli(int64(n * 1000)).UTC(), false, true
	}
	return time.Time{}, false, false
}

// appendTime appends t as Elasticsearch reads it, to the millisecond.
func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().Truncate(time.Millisecond).AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

// greenwich is how HTTP and mail write a time. time.Parse does not know the offsets of
// other zones' names.
const greenwich = "Mon, 02 Jan 2006 15:04:05 GMT"

// parseDate reads what parseTime reads, and dates as people write them. It does not read
// 7/8/2026, whose day and month could be either number: dateInOrder may.
func parseDate(s []byte) (t time.Time, wholeDay, ok bool) {
	if t, wholeDay, ok = parseTime(s); ok || len(s) < len("20260102") || len(s) > 40 {
		return t, wholeDay, ok
	}
	text := string(s)
	if within, found := strings.CutPrefix(text, "/Date("); found { // as old .NET services write it
		millis, _, _ := strings.Cut(strings.TrimRight(within, ")/"), "+")
		return unixTime(millis)
	}
	if len(text) == len("20060102") {
		t, err := time.Parse("20060102", text)
		return t, true, err == nil && t.Year() >= 1900 && t.Year() < 2200
	}
	for _, layout := range []string{"2.1.2006", "2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006", "2-Jan-2006", "2006/1/2"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true, t.Year() > 0
		}
	}
	for _, layout := range []string{"2.1.2006 15:04", "2.1.2006 15:04:05", "2 January 2006 15:04", "2006/1/2 15:04:05", time.RFC1123Z, greenwich} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), false, t.Year() > 0
		}
	}
	if day, month := numbersOf(text); day.IsZero() != month.IsZero() || day.Equal(month) && !day.IsZero() {
		if day.IsZero() {
			day = month
		}
		return day, true, day.Year() > 0
	}
	return dateInWords(string(s))
}

// numbersOf reads a date such as 7/8/2026 or 7-8-2026 with the day first, and with the month
// first; zero where it is none.
func numbersOf(text string) (day, month time.Time) {
	text = strings.ReplaceAll(text, "-", "/")
	day, _ = time.Parse("2/1/2006", text)
	month, _ = time.Parse("1/2/2006", text)
	return day, month
}

// dateOrder is the order of day and month in the dates of a record that are numbers.
type dateOrder uint8

const (
	unread dateOrder = iota
	untold           // no date tells it, or two contradict each other
	dayFirst
	monthFirst
)

// dateInOrder reads a date such as 7/8/2026 in the order that the other dates of the record have, if
// they have one. Only dates in members that are called after dates count, with the same sign between
// their numbers.
func (x *extractor) dateInOrder(s []byte) (t time.Time, ok bool) {
	const longest = len("07/08/2026")
	sign := bytes.IndexAny(s, "/-")
	if len(s) > longest || sign < 0 {
		return time.Time{}, false
	}
	day, month := numbersOf(string(s))
	if day.IsZero() || month.IsZero() {
		return time.Time{}, false
	}
	order := &x.dateOrders[0]
	if s[sign] == '-' {
		order = &x.dateOrders[1]
	}
	if *order == unread {
		*order = x.orderOfDates(s[sign])
	}
	switch *order {
	case dayFirst:
		return day, true
	case monthFirst:
		return month, true
	}
	return time.Time{}, false
}

// orderOfDates returns the order of day and month in those dates of the record that have a sign
// between their numbers. 28/10/2026 tells it, 01/12/2026 does not.
func (x *extractor) orderOfDates(sign byte) dateOrder {
	const shortest, longest = len("7/13/2026"), len("13/07/2026T23:59:59.000+00:00")
	order := untold
	for at := range x.tree.nodes {
		n := &x.tree.nodes[at]
		if n.kind != '"' || int(n.rawLen) < shortest+2 || int(n.rawLen) > longest+2 {
			continue
		}
		text := x.tree.raw(uint32(at))
		text = text[1 : len(text)-1]
		if end := bytes.IndexAny(text, " T"); end > 0 {
			text = text[:end]
		}
		if bytes.Count(text, []byte{sign}) != 2 {
			continue
		}
		day, month := numbersOf(string(text))
		if day.IsZero() == month.IsZero() || x.reader.name(x.nameOf(uint32(at))).Concepts&x.reader.bits.dates == 0 {
			continue
		}
		told := dayFirst
		if day.IsZero() {
			told = monthFirst
		}
		if order != untold && order != told {
			return untold
		}
		order = told
	}
	return order
}

// months are the names of months, folded, in French, Spanish and German.
var months = [12][]string{
	{"janvier", "enero", "januar", "janner"}, {"fevrier", "febrero", "februar"}, {"mars", "marzo", "marz", "maerz"}, {"avril", "abril", "april"},
	{"mai", "mayo"}, {"juin", "junio", "juni"}, {"juillet", "julio", "juli"}, {"aout", "agosto", "august"}, {"septembre", "septiembre", "setiembre", "september"},
	{"octobre", "octubre", "oktober"}, {"novembre", "noviembre", "november"}, {"decembre", "diciembre", "dezember"},
}

// dateInWords reads a date such as 30 juillet 2026, 30 de julio de 2026 or 30. Juli 2026.
func dateInWords(text string) (t time.Time, wholeDay, ok bool) {
	words := strings.Fields(vocabulary.Fold(text))
	if len(words) == 5 && words[1] == "de" && (words[3] == "de" || words[3] == "del") {
		words = []string{words[0], words[2], words[4]}
	}
	if len(words) != 3 || len(words[2]) != 4 {
		return time.Time{}, false, false
	}
	day, errDay := strconv.Atoi(strings.TrimSuffix(strings.TrimSuffix(words[0], "er"), "."))
	year, errYear := strconv.Atoi(words[2])
	month := slices.IndexFunc(months[:], func(names []string) bool { return slices.Contains(names, words[1]) }) + 1
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if errDay != nil || errYear != nil || month == 0 || year < 1 || t.Day() != day {
		return time.Time{}, false, false
	}
	return t, true, true
}

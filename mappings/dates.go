package mappings

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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

// parseDate reads what parseTime reads, and dates as people write them. It does not read
// 7/8/2026, whose day and month could be either number: dateInOrder may.
func parseDate(s []byte) (t time.Time, wholeDay, ok bool) {
	if t, wholeDay, ok = parseTime(s); ok || len(s) < len("20260102") || len(s) > 45 {
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
	return writtenDate(text, untold)
}

// numbersOf reads a date such as 7/8/2026 or 7-8-2026 with the day first, and with the month
// first; zero where it is none.
func numbersOf(text string) (day, month time.Time) {
	if text == "" || !unicode.IsDigit(rune(text[0])) {
		return day, month // time copies it for its error
	}
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

// months are the names of months, folded, in English, French, Spanish, Portuguese, Italian, German and the
// Nordic languages. Their first three letters stand for those that are longer.
var months = [12][]string{
	{"january", "janvier", "enero", "januar", "janner", "janeiro", "gennaio"}, {"february", "fevrier", "febrero", "februar", "fevereiro", "febbraio"},
	{"march", "mars", "marzo", "marz", "maerz", "marco", "mrz"}, {"april", "avril", "abril", "aprile"}, {"may", "mai", "mayo", "maio", "maggio", "maj"},
	{"june", "juin", "junio", "juni", "junho", "giugno"}, {"july", "juillet", "julio", "juli", "julho", "luglio"}, {"august", "aout", "agosto"},
	{"september", "septembre", "septiembre", "setiembre", "setembro", "settembre", "sept"}, {"october", "octobre", "octubre", "oktober", "outubro", "ottobre"},
	{"november", "novembre", "noviembre", "novembro"}, {"december", "decembre", "diciembre", "dezember", "desember", "dezembro", "dicembre"},
}

// monthNames are the numbers of months by their names.
var monthNames = func() map[string]int {
	all, short := map[string]int{}, map[string]int{}
	for i, names := range months {
		for _, name := range names {
			all[name] = i + 1
			if len(name) > 3 {
				if of, again := short[name[:3]]; again && of != i+1 {
					short[name[:3]] = 0 // jui is June and July
				} else {
					short[name[:3]] = i + 1
				}
			}
		}
	}
	for name, month := range short {
		if month > 0 && all[name] == 0 {
			all[name] = month
		}
	}
	return all
}()

// zones are the abbreviations of zones that mean one thing, in minutes from UTC.
var zones = map[string]int{
	"z": 0, "gmt": 0, "utc": 0, "wet": 0, "bst": 60, "cet": 60, "west": 60, "mez": 60, "cest": 120, "mesz": 120, "eet": 120, "sast": 120, "eest": 180, "msk": 180,
	"est": -300, "edt": -240, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "jst": 540, "kst": 540, "sgt": 480, "hkt": 480, "aest": 600, "aedt": 660,
}

// How Chinese, Japanese and Korean write a year of an era, a time of day, and its half.
var (
	eastYear  = regexp.MustCompile(`(令和|平成|昭和|民國|民国)\s*(\d{1,3}|元)`)
	eastClock = regexp.MustCompile(`(\d{1,2})\s*[時时시]\s*(?:(\d{1,2})\s*[分분])?\s*(?:(\d{1,2})\s*[秒초])?`)
	eastHalf  = regexp.MustCompile(`([\p{Han}\p{Hangul}]*)\s*(\d{1,2}(?::\d{1,2})+)`)
	eastDay   = regexp.MustCompile(`^[日일]?(?:[月火水木金土日]曜日?|(?:星期|[周週])[一二三四五六日天]|[월화수목금토일]요일)?`)
)

// beforeEra is the year before the first one of an era.
var beforeEra = map[string]int{"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}

// western turns eras and the words of a time of day into what is written elsewhere; into nothing, if it does
// not know what stands before the time.
func western(text string) string {
	if isASCII(text) || !strings.ContainsAny(text, "0123456789") {
		return text
	}
	text = eastYear.ReplaceAllStringFunc(text, func(s string) string {
		of := eastYear.FindStringSubmatch(s)
		n, err := strconv.Atoi(of[2])
		if err != nil {
			n = 1
		}
		return strconv.Itoa(beforeEra[of[1]] + n)
	})
	text = eastClock.ReplaceAllStringFunc(text, func(s string) string {
		of := eastClock.FindStringSubmatch(s)
		return of[1] + ":" + cmp.Or(of[2], "00") + ":" + cmp.Or(of[3], "00")
	})
	certain := true
	text = eastHalf.ReplaceAllStringFunc(text, func(s string) string {
		of := eastHalf.FindStringSubmatch(s)
		switch eastDay.ReplaceAllString(of[1], "") {
		case "":
			return " " + of[2]
		case "上午", "午前", "오전":
			return " " + of[2] + " am"
		case "下午", "午後", "오후":
			return " " + of[2] + " pm"
		}
		certain = false // such as 晚上9时
		return s
	})
	if !certain {
		return ""
	}
	return text
}

// writtenDate reads a date as people write it, in words or in numbers, perhaps with the day of the week, a
// time and a zone: Monday, 14th September 2026; 30 de julio de 2026; 24 June 2025, 5:52 am BST;
// 14/09/2026 - 15:46; 2026年7月30日. It does not read 7/8/2026 unless order says which number is the day.
func writtenDate(text string, order dateOrder) (t time.Time, wholeDay, ok bool) {
	const longest = 45
	none := time.Time{}
	if len(text) > longest {
		return none, false, false
	}
	var numbers []int // of the date
	var signs []byte  // before each of them
	var sizes []int
	month, named := 0, -1 // which of the numbers it stands before
	clock, offset, zoned, timed, afternoon := -1, 0, false, false, -1
	folded := vocabulary.Fold(western(text))
	sign := byte(' ')
	for i := 0; i < len(folded); {
		c := folded[i]
		start := i
		switch {
		case c >= '0' && c <= '9':
			for i < len(folded) && (folded[i] >= '0' && folded[i] <= '9' || folded[i] == ':' || timedAt(folded, i)) {
				i++
			}
			token := folded[start:i]
			switch {
			case strings.Contains(token, ":"):
				at, valid := clockOf(token)
				if !valid || timed && !zoned {
					return none, false, false
				}
				if timed { // +02:00
					return none, false, false
				}
				clock, timed = at, true
				if i < len(folded) && (folded[i] == '+' || folded[i] == '-') && i+3 <= len(folded) {
					minutes, size, valid := offsetOf(folded[i:])
					if valid {
						offset, zoned, i = minutes, true, i+size
					}
				}
			case timed && (sign == '+' || sign == '-') && !zoned && len(token) == 4:
				n, _ := strconv.Atoi(token)
				offset, zoned = n/100*60+n%100, true
				if sign == '-' {
					offset = -offset
				}
			case len(token) > 4:
				return none, false, false
			default:
				n, _ := strconv.Atoi(token)
				if next := strings.TrimLeft(folded[i:], " "); n <= 12 && (strings.HasPrefix(next, "am") || strings.HasPrefix(next, "pm")) && !timed {
					clock, timed = n*60*60, true
					break
				}
				numbers, signs, sizes = append(numbers, n), append(signs, sign), append(sizes, len(token))
				for _, suffix := range []string{"st", "nd", "rd", "th", "er", "º", "ª"} {
					if strings.HasPrefix(folded[i:], suffix) && (i+len(suffix) == len(folded) || !isLetterAt(folded, i+len(suffix))) {
						i += len(suffix)
						break
					}
				}
			}
			sign = ' '
		case isLetterAt(folded, i):
			for i < len(folded) && isLetterAt(folded, i) {
				_, size := utf8.DecodeRuneInString(folded[i:])
				i += size
			}
			word := folded[start:i]
			minutes, isZone := zones[word]
			switch {
			case monthNames[word] > 0 && month == 0:
				month, named = monthNames[word], len(numbers)
			case word == "am" || word == "pm":
				afternoon = map[string]int{"am": 0, "pm": 1}[word]
			case isZone && timed:
				if !zoned {
					offset, zoned = minutes, true
				}
			case word == "t" && len(numbers) == 3:
			case len(numbers) > 0 && utf8.RuneCountInString(word) > 3 || utf8.RuneCountInString(word) > 12:
				return none, false, false // only the day of the week stands before the date
			case isZone || timed && len(word) > 1:
				return none, false, false
			}
			sign = ' '
		default:
			if c == '/' || c == '-' || c == '.' || c == '+' {
				sign = c
			}
			i++
		}
	}
	var year, day int
	switch {
	case month > 0 && len(numbers) == 2 && sizes[1] == 4 && named <= 1:
		day, year = numbers[0], numbers[1]
	case month > 0 && len(numbers) == 2 && sizes[0] == 4 && named == 1:
		year, day = numbers[0], numbers[1]
	case month == 0 && len(numbers) == 3 && sizes[0] == 4:
		year, month, day = numbers[0], numbers[1], numbers[2]
	case month == 0 && len(numbers) == 3 && sizes[2] == 4 && sizes[0] <= 2 && sizes[1] <= 2 && signs[1] == signs[2] && signs[1] != ' ' && signs[1] != '+':
		day, month, year = numbers[0], numbers[1], numbers[2]
		switch {
		case signs[1] == '.' || order == dayFirst || day > 12 || day == month:
		case order == monthFirst || month > 12:
			day, month = month, day
		default:
			return none, false, false
		}
		if order == monthFirst && signs[1] != '.' && numbers[0] > 12 || order == dayFirst && numbers[1] > 12 {
			return none, false, false
		}
	default:
		return none, false, false
	}
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if month > 12 || year < 1 || year > 2200 && year < 9000 || t.Day() != day { // 2569 is of another calendar
		return none, false, false
	}
	if !timed {
		return t, true, true
	}
	if hour := clock / 3600; afternoon == 1 && hour < 12 {
		clock += 12 * 3600
	} else if afternoon == 0 && hour == 12 {
		clock -= 12 * 3600
	}
	return t.Add(time.Duration(clock)*time.Second - time.Duration(offset)*time.Minute), false, true
}

// timedAt reports whether a dot is that of a fraction of a second: 12:30:00.5.
func timedAt(s string, i int) bool {
	return s[i] == '.' && i >= 8 && s[i-3] == ':' && s[i-6] == ':' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9'
}

func isLetterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r) || unicode.IsMark(r)
}

// clockOf returns the seconds of a time such as 15:46 or 02:09:00.
func clockOf(s string) (seconds int, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, false
	}
	for i, part := range parts {
		part, _, _ = strings.Cut(part, ".")
		n, err := strconv.Atoi(part)
		if err != nil || len(part) > 2 || i == 0 && n > 24 || i > 0 && n > 59 {
			return 0, false
		}
		seconds = seconds*60 + n
	}
	if len(parts) == 2 {
		seconds *= 60
	}
	return seconds, true
}

// offsetOf returns the minutes of an offset at the start of s, such as +02:00 or -0400, and its length.
func offsetOf(s string) (minutes, size int, ok bool) {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if len(s) < len(layout) {
			continue
		}
		if t, err := time.Parse(layout, s[:len(layout)]); err == nil {
			_, seconds := t.Zone()
			return seconds / 60, len(layout), true
		}
	}
	return 0, 0, false
}

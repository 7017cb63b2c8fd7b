package mappings

import (
	"maps"
	"slices"
	"strings"
	"time"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// dateColumn is what the dates of a column are.
type dateColumn struct {
	order dateOrder
	times map[int]time.Time // by record
}

func (in *inference) times() {
	var dates []*column
	orders := map[dateOrder]int{}
	for _, c := range in.scalars {
		if !c.isPlain() || in.taken[c] != "" || c.of.length > 45 {
			continue
		}
		order := orderOf(c)
		n, none := 0, 0
		for _, v := range c.cells {
			if _, ok := dateOf(v.text, max(order, untold)); ok || order == untold && in.isNumeric(v.text) {
				n++
			} else if isNoDate(v.text) {
				none++
			}
		}
		if n < 3 && none > 0 || 10*n < 8*(c.of.n-none) {
			continue
		}
		orders[order]++
		in.dates[c] = dateColumn{order: order}
		dates = append(dates, c)
	}
	usual := untold
	if orders[dayFirst] > 0 && orders[monthFirst] == 0 {
		usual = dayFirst
	}
	if orders[monthFirst] > 0 && orders[dayFirst] == 0 {
		usual = monthFirst
	}
	for _, c := range dates {
		d := in.dates[c]
		if d.order == untold {
			d.order = usual
		}
		d.times = map[int]time.Time{}
		for _, v := range c.cells {
			if t, ok := dateOf(v.text, d.order); ok && isUsual(t) {
				d.times[v.record] = t
			}
		}
		in.dates[c] = d
	}
	put := func(field string, c *column, why string, to *[]pattern) {
		p := c.pattern()
		p.order = in.dates[c].order
		*to = []pattern{p}
		in.note(field, c, "%s", why)
	}
	pick := func(field, concepts string, less string, to *[]pattern) *column {
		best := bestOf(dates, func(c *column) (score float64, ok bool) {
			own := in.dateNamed(c)
			switch {
			case in.taken[c] != "" || in.isForeign(c) || len(in.dates[c].times) == 0:
				return 0, false
			case own&in.bits(concepts) != 0:
				score = 1
			case own&in.bits("published updated start end created") == 0 && c.of.means&in.bits(concepts) != 0:
				score = 0.6
			case less != "" && own&in.bits(less) != 0:
				score = 0.5
			default:
				return 0, false
			}
			return score + 0.5*in.share(c) - 0.1*float64(c.of.unknown) - 0.03*float64(c.depth()), true
		})
		if best == nil {
			called := bestOf(in.scalars, func(c *column) (float64, bool) { // so that it is said that they do not fit
				is := in.has(c, concepts) && c.of.named&^in.bits(concepts+" date") == 0 && c.of.unknown == 0
				return in.share(c), is && c.isPlain() && in.taken[c] == "" && !in.isForeign(c) && c.of.length <= 45
			})
			if called != nil {
				*to = []pattern{called.pattern()}
			}
			return nil
		}
		put(field, best, "dates", to)
		has := map[int]bool{}
		for record := range in.dates[best].times {
			has[record] = true
		}
		for _, c := range dates { // other records may have it under another name
			if in.taken[c] != "" || in.isForeign(c) || c.of.named&in.bits(concepts) == 0 || c.parent.parent != best.parent.parent || len(in.dates[c].times) < 2 {
				continue
			}
			again := slices.ContainsFunc(slices.Collect(maps.Keys(in.dates[c].times)), func(record int) bool { return has[record] })
			if !again {
				from := *to
				put(field, c, "dates, of other records", to)
				*to = append(from, *to...)
				for record := range in.dates[c].times {
					has[record] = true
				}
			}
		}
		return best
	}
	f := &in.mapping.Fields
	updated := pick("updated_at", "updated", "", &f.UpdatedAt)
	ends := pick("ends_at", "end", "", &f.EndsAt)
	var starts *column
	if in.kind != report.Cities || ends != nil { // a city has a level since a day, and takes place at none
		starts = pick("starts_at", "start", "valid event", &f.StartsAt)
	}
	published := pick("published_at", "published", "", &f.PublishedAt)
	if published == nil {
		published = pick("published_at", "created", "date", &f.PublishedAt)
	}
	free := slices.DeleteFunc(slices.Clone(dates), func(c *column) bool { return in.taken[c] != "" || in.isForeign(c) || len(in.dates[c].times) < 3 })
	if (starts == nil) != (ends == nil) { // the other end of the period is beside it
		for _, c := range free {
			switch {
			case starts == nil && c.parent == ends.parent && in.before(c, ends):
				put("starts_at", c, "before the end", &f.StartsAt)
			case ends == nil && c.parent == starts.parent && in.before(starts, c):
				put("ends_at", c, "after the start", &f.EndsAt)
			case ends == nil && c.parent == starts.parent && in.before(c, starts): // its name was misread
				put("ends_at", starts, "after the start", &f.EndsAt)
				put("starts_at", c, "before the end", &f.StartsAt)
			default:
				continue
			}
			break
		}
	}
	free = slices.DeleteFunc(free, func(c *column) bool { return in.taken[c] != "" })
	if published != nil && updated == nil {
		for _, c := range free {
			if in.share(c) > 0.3 && in.before(published, c) && !in.isAhead(c, published) {
				put("updated_at", c, "after the publication, and never in the future", &f.UpdatedAt)
				updated = c
				break
			}
		}
	}
	if published == nil && updated != nil {
		for _, c := range free {
			if in.share(c) > 0.7 && in.before(c, updated) {
				put("published_at", c, "before the update", &f.PublishedAt)
				published = c
				break
			}
		}
	}
	if published == nil && updated == nil {
		if a, b := in.period(free, 0.7, true); a != nil {
			put("published_at", a, "the earlier of two dates", &f.PublishedAt)
			put("updated_at", b, "the later of two dates", &f.UpdatedAt)
			published = a
		}
	}
	if starts == nil && ends == nil && in.kind != report.Cities && published != nil {
		if a, b := in.period(free, 0, false); a != nil {
			put("starts_at", a, "before the end of a period", &f.StartsAt)
			put("ends_at", b, "after its start", &f.EndsAt)
		}
	}
}

// dateNamed returns what the name of a column of dates means. In {"published": {"start": …}} it is the outer
// one.
func (in *inference) dateNamed(c *column) vocabulary.Concepts {
	const outer = 2
	all := in.bits("published updated created")
	if c.isWrapped() {
		all |= in.bits("start end")
	}
	for of, n := c.parent, 0; of != nil && n <= outer; of, n = of.parent, n+1 {
		if own, _ := in.nameOf(of); own&all != 0 && !in.isBody(of) {
			return own
		}
	}
	return c.of.named
}

// period returns two columns of dates in one object of which the first are hardly ever after the second; of
// several those that have times of day, or those that have not.
func (in *inference) period(free []*column, share float64, timed bool) (start, end *column) {
	best := -1.0
	for _, a := range free {
		for _, b := range free {
			if a == b || in.taken[a] != "" || in.taken[b] != "" || a.parent != b.parent || in.share(a) < share || !in.before(a, b) || in.isDue(b, free) {
				continue
			}
			score := in.share(a) + 0.5*in.share(b)
			if in.hasTimes(a) == timed {
				score++
			}
			if in.hasTimes(b) == timed {
				score++
			}
			if score > best {
				start, end, best = a, b, score
			}
		}
	}
	return start, end
}

// isDue reports whether the dates of a column are those of what is planned: after two others of its object in
// nearly all records, and mostly after the newest of them.
func (in *inference) isDue(c *column, free []*column) bool {
	n := 0
	for _, of := range free {
		if of != c && of.parent == c.parent && in.share(of) > 0.5 && in.before(of, c) {
			if !in.isAhead(c, of) {
				return false
			}
			n++
		}
	}
	return n >= 2 && in.kind == report.Cities
}

// hasTimes reports whether most dates of a column have a time of day.
func (in *inference) hasTimes(c *column) bool {
	n := 0
	for _, t := range in.dates[c].times {
		if !t.Truncate(24 * time.Hour).Equal(t) {
			n++
		}
	}
	return 2*n > len(in.dates[c].times)
}

// isNoDate reports whether a value stands for no date, in a column of dates: it has no number but zero.
func isNoDate(s string) bool { return !strings.ContainsAny(s, "123456789") }

// isAhead reports whether some dates of a column are after the newest of another one: those of the next
// review are.
func (in *inference) isAhead(c, of *column) bool {
	var newest time.Time
	for _, t := range in.dates[of].times {
		if t.After(newest) {
			newest = t
		}
	}
	n := 0
	for _, t := range in.dates[c].times {
		if t.After(newest.Add(3 * 24 * time.Hour)) {
			n++
		}
	}
	return 20*n > len(in.dates[c].times)
}

// before reports whether the dates of one column are hardly ever after those of another one.
func (in *inference) before(a, b *column) bool {
	n, early, differ := 0, 0, 0
	for record, t := range in.dates[a].times {
		u, ok := in.dates[b].times[record]
		if !ok {
			continue
		}
		n++
		if !t.After(u.Add(24 * time.Hour)) {
			early++
		}
		if !t.Equal(u) {
			differ++
		}
	}
	return n >= 3 && 20*early >= 19*n && differ > 0
}

func (in *inference) isNumeric(s string) bool {
	day, month := orderedIn(s)
	return !day.IsZero() || !month.IsZero()
}

// isUsual reports whether a date may be one of a report: what systems write for none lies outside.
func isUsual(t time.Time) bool { return t.Year() >= 1980 && t.Year() < 2100 }

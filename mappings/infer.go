package mappings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/mappings/language"
	"riskdex/report"
)

// finding is a column that fills a field, and why.
type finding struct {
	field  string
	column *column
	why    string
}

// inference finds which columns fill which fields. What it concludes follows from the values of
// columns; their names decide where values say little.
type inference struct {
	*columns
	kind     report.Kind
	scalars  []*column         // columns with scalars, in the order of byPointer
	cities   []*gazetteer.City // that each record is about, as far as it is known
	nations  []map[string]bool // countries that each record is about, as far as its words tell
	places   [][]point         // where each record is, as far as its cities tell
	taken    map[*column]string
	findings []finding
	bits     func(string) vocabulary.Concepts
	mapping  *kindMapping
	others   []otherScale // of the levels in other kinds
	dates    map[*column]dateColumn
}

const aboutInferred = "Where the fields of a document come from, as the values of records tell."

// infer finds the mapping that the values of records tell, and what it is told by.
func (x *extractor) infer(kind report.Kind, base *kindMapping, others []otherScale, records [][]byte) *inference {
	m := &kindMapping{About: aboutInferred}
	in := &inference{kind: kind, taken: map[*column]string{}, bits: x.reader.vocabulary.Concepts, mapping: m, others: others, dates: map[*column]dateColumn{}}
	in.columns = newColumns(x, base, records)
	in.top.eachColumn(func(c *column) {
		if len(c.cells) > 0 && !c.isNumbered() && !c.isOfTable() {
			in.look(c)
			in.scalars = append(in.scalars, c)
		}
	})
	m.Inferred = &inferredFrom{Records: in.records}
	slices.SortStableFunc(in.scalars, byPointer)
	in.anchor()
	in.country()
	located := in.located()
	in.position(located)
	in.code()
	in.title()
	in.names()
	in.airports()
	in.times()
	in.level()
	in.threats()
	in.placesOf(located)
	in.summary()
	return in
}

func (in *inference) note(field string, c *column, why string, args ...any) {
	in.taken[c] = field
	in.findings = append(in.findings, finding{field, c, fmt.Sprintf(why, args...)})
}

func (in *inference) has(c *column, concepts string) bool {
	return c.of.named&in.bits(concepts) != 0
}

// isForeign reports whether a column is within an object about somebody or something else.
func (in *inference) isForeign(c *column) bool {
	return c.of.means&in.bits("foreign") != 0
}

// anchor finds the city that each record is about, by the names in columns; and the countries that the
// words of advisories name.
func (in *inference) anchor() {
	in.cities = make([]*gazetteer.City, in.records)
	in.nations = make([]map[string]bool, in.records)
	in.places = make([][]point, in.records)
	for i := range in.nations {
		in.nations[i] = map[string]bool{}
	}
	if in.kind == report.Cities {
		in.elect(nil)
		return
	}
	for _, c := range in.scalars {
		if !in.isWords(c) || c.of.length < 15 || in.isForeign(c) {
			continue
		}
		for _, v := range c.cells {
			in.mentions(v.record, v.text)
		}
	}
}

// isWords reports whether the values of a column are words, rather than numbers or links.
func (in *inference) isWords(c *column) bool {
	return c.of.letters >= 0.8 && c.of.markup <= 0.2 && c.of.numbers <= 0.2
}

// elect finds the city that each record is about: the one that most columns name, or the largest of them,
// in one of the countries that the record states, if it states any.
func (in *inference) elect(stated [][]string) {
	votes := make([]map[*gazetteer.City]float64, in.records)
	for i := range votes {
		votes[i] = map[*gazetteer.City]float64{}
	}
	for _, c := range in.scalars {
		if in.isWords(c) && c.isPlain() && in.share(c) > 0.3 && c.of.length < 100 && 2*c.of.distinct > c.of.n {
			in.vote(c, votes)
		}
	}
	for i, of := range votes {
		var codes []string
		if stated != nil {
			if codes = stated[i]; codes == nil {
				continue // what was found without stays
			}
		}
		best := 0.0
		in.cities[i] = nil
		for c, n := range of {
			n += float64(c.Population) / 1e9
			if codes != nil && !slices.Contains(codes, c.Country) {
				continue
			}
			if n > best || n == best && in.cities[i] != nil && c.Name+c.Country < in.cities[i].Name+in.cities[i].Country {
				best, in.cities[i] = n, c
			}
		}
		if codes == nil && in.cities[i] != nil {
			codes = []string{in.cities[i].Country}
		}
		in.nations[i] = map[string]bool{}
		for _, code := range codes {
			in.nations[i][code] = true
		}
	}
}

func (in *inference) vote(c *column, votes []map[*gazetteer.City]float64) {
	type ballot struct {
		record int
		cities []*gazetteer.City
		weight float64
	}
	var all []ballot
	named := 0.0
	for _, v := range c.cells {
		found, whole := in.citiesIn(v.text)
		if found == nil {
			continue
		}
		weight := 0.5
		if whole {
			weight = 1
		}
		named += weight
		all = append(all, ballot{v.record, found, weight})
	}
	share := named / float64(c.of.n)
	if share < 0.3 {
		return
	}
	for _, b := range all {
		for _, city := range b.cities {
			votes[b.record][city] += b.weight * share
		}
	}
}

// mentions notes the countries that a text names, and those of the large cities in it.
func (in *inference) mentions(record int, text string) {
	const most = 60
	words := strings.Fields(text)
	words = words[:min(len(words), most)]
	for n := 3; n > 0; n-- {
		for i := range len(words) - n + 1 {
			run := strings.Trim(strings.Join(words[i:i+n], " "), ":;,.!?\"«»()’'")
			if len(run) < 4 || !unicode.IsUpper([]rune(run)[0]) {
				continue
			}
			if code := in.countryOf(run); code != "" {
				in.nations[record][code] = true
				continue
			}
			if code := in.x.world().demonyms[gazetteer.Fold(run)]; code != "" {
				in.nations[record][code] = true
				continue
			}
			if cities := in.citiesCalled(run); cities != nil && cities[0].Population > 300_000 {
				in.nations[record][cities[0].Country] = true
				in.places[record] = append(in.places[record], point{cities[0].Lat(), cities[0].Lon()})
			}
		}
	}
}

// country finds the columns whose values are countries, and the same that the rest of each record is
// about.
func (in *inference) country() {
	type candidate struct {
		c                       *column
		stated                  [][]string // by each record
		agrees, chance, by, all float64
		named                   bool
	}
	var found []candidate
	for _, c := range in.scalars {
		if c.of.numbers > 0.1 || c.of.length > 80 || c.of.length < 1.5 {
			continue
		}
		told, agree, both, luck := 0, 0, 0, 0
		stated := make([][]string, in.records)
		for _, v := range c.cells {
			if codes := in.countriesOf(v.text); codes != nil {
				told++
				stated[v.record] = append(stated[v.record], codes...)
			}
		}
		for record, codes := range stated { // a report may say little of some of its countries
			if codes == nil || len(in.nations[record]) == 0 {
				continue
			}
			both++
			if among(codes, in.nations[record]) {
				agree++
			}
			for k := range 5 { // what the neighbours would agree with
				if among(codes, in.nations[(record+7*(k+1))%in.records]) {
					luck++
				}
			}
		}
		share := shareOf(told, c.of.n)
		if share < 0.7 && !c.isPlain() { // countries among the names of other places
			with := 0
			for _, codes := range stated {
				if codes != nil {
					with++
				}
			}
			if 10*with > 8*c.records {
				share = 0.7
			}
		}
		if share < 0.7 {
			continue
		}
		named := in.has(c, "country iso")
		f := candidate{c: c, stated: stated, by: share, all: in.share(c), named: named}
		if both > 0 {
			f.agrees, f.chance = shareOf(agree, both), float64(luck)/float64(5*both)
		}
		switch {
		case both >= 5 && f.agrees-f.chance < 0.3:
			continue
		case both >= 5 && in.records > 10 && f.agrees < 0.5:
			continue
		case both < 5 && (!named || in.isForeign(c)):
			continue
		}
		found = append(found, f)
	}
	rank := func(f candidate) float64 {
		r := f.agrees*f.by + 0.5*f.all
		if f.named {
			r += 0.3
		}
		if in.isForeign(f.c) {
			r -= 0.4
		}
		if f.c.of.length <= 3 {
			r += 0.1 // a code can be read in one way only
		}
		return r - 0.03*float64(f.c.depth()) + 0.2*min(1, float64(len(f.c.cells))/float64(in.records)-f.all)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(rank(b), rank(a)) })
	if len(found) == 0 {
		return
	}
	covered := map[int]bool{}
	var from []pattern
	for i, f := range found {
		fresh := 0
		for _, v := range f.c.cells {
			if !covered[v.record] && in.countriesOf(v.text) != nil {
				fresh++
				covered[v.record] = true
			}
		}
		if i > 0 && (fresh*50 < in.records || rank(f) < rank(found[0])-0.5 || in.contradicts(f.c, found[0].c)) {
			in.taken[f.c] = "country"
			continue
		}
		from = append(from, f.c.pattern().splitBy(listSigns))
		in.note("country", f.c, "%.0f %% of its values are countries, %.0f %% those that the report is about", 100*f.by, 100*f.agrees)
	}
	in.mapping.Fields.Country = from
	if in.kind == report.Cities { // names alone may have meant another city
		in.elect(found[0].stated)
		return
	}
	for record, codes := range found[0].stated { // a text may not name them
		for _, code := range codes {
			in.nations[record][code] = true
		}
	}
}

// contradicts reports whether two columns mostly name different countries, as those of a report and of its
// author do.
func (in *inference) contradicts(a, b *column) bool {
	named := map[int]map[string]bool{}
	for _, v := range b.cells {
		for _, code := range in.countriesOf(v.text) {
			if named[v.record] == nil {
				named[v.record] = map[string]bool{}
			}
			named[v.record][code] = true
		}
	}
	both, same := 0, 0
	for _, v := range a.cells {
		if codes := in.countriesOf(v.text); codes != nil && named[v.record] != nil {
			if both++; among(codes, named[v.record]) {
				same++
			}
		}
	}
	return both >= 3 && 2*same < both
}

func among(codes []string, known map[string]bool) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return known[code] })
}

// here reports whether a point is where a record is, and whether that is known.
func (in *inference) here(record int, p point) (is, known bool) {
	if city := in.cities[record]; city != nil {
		return city.Kilometres(p.lat, p.lon) < 100, true
	}
	for _, at := range in.places[record] {
		if math.Abs(at.lat-p.lat) < 3 && math.Abs(at.lon-p.lon) < 5 {
			return true, true
		}
	}
	for code := range in.nations[record] {
		b, ok := in.x.boxes[code]
		if !ok {
			continue
		}
		known = true
		if b.holds(p) {
			return true, true
		}
	}
	return false, known
}

// pair is two columns of numbers that may be a position.
type pair struct{ lat, lon *column }

// positions returns the columns that may be positions: pairs of numbers in one object, and columns of
// texts or lists with two numbers.
func (in *inference) positions() (pairs []pair, single []*column) {
	byParent := map[*column][]*column{}
	var parents []*column
	for _, c := range in.scalars {
		switch {
		case c.of.degrees > 0.9 && c.of.whole < 0.9:
			outer := c
			for outer.isWrapped() { // in {"y": {"number": 3}}
				outer = outer.parent
			}
			parent := outer.parent
			if strings.HasPrefix(parent.name, "[") { // one entry has the latitude, another the longitude
				parent = parent.parent
			}
			if byParent[parent] == nil {
				parents = append(parents, parent)
			}
			byParent[parent] = append(byParent[parent], c)
		case in.textPoint(c) > 0.8:
			single = append(single, c)
		}
	}
	const most = 12
	for _, parent := range parents {
		of := byParent[parent]
		of = of[:min(len(of), most)]
		for _, lat := range of {
			for _, lon := range of {
				if lat != lon {
					pairs = append(pairs, pair{lat, lon})
				}
			}
		}
	}
	return pairs, single
}

// textPoint returns the share of values that have two numbers.
func (in *inference) textPoint(c *column) float64 {
	return c.shareThat(func(s string) bool { _, _, ok := twoIn(s); return ok })
}

// elementOf returns what tells two values of one element of a list, or of one record.
func (v cell) elementOf() [2]int { return [2]int{v.record, v.element} }

// nearness returns how many points of a pair are where their records are, of those for which it is
// known, and how many there are; and the same for the records of others.
func (in *inference) nearness(points map[[2]int]point) (near, known, elsewhere, all int) {
	for at, p := range points {
		if p.verdict() != fits || p == (point{}) {
			continue
		}
		all++
		is, ok := in.here(at[0], p)
		if !ok {
			continue
		}
		known++
		if is {
			near++
		}
		if is, _ := in.here((at[0]+11)%in.records, p); is {
			elsewhere++
		}
	}
	return near, known, elsewhere, all
}

func (in *inference) pointsOf(p pair) map[[2]int]point {
	lats, points := map[[2]int]float64{}, map[[2]int]point{}
	for _, v := range p.lat.cells {
		if n, ok := degreesOf(v.text); ok {
			lats[v.elementOf()] = n
		}
	}
	for _, v := range p.lon.cells {
		lat, ok := lats[v.elementOf()]
		if n, is := degreesOf(v.text); is && ok {
			points[v.elementOf()] = point{lat, n}
		}
	}
	return points
}

func (in *inference) pointsIn(c *column, swapped bool) map[[2]int]point {
	points := map[[2]int]point{}
	for _, v := range c.cells {
		if first, second, ok := twoIn(v.text); ok {
			if swapped {
				first, second = second, first
			}
			points[v.elementOf()] = point{first, second}
		}
	}
	return points
}

// located is a column, or two, that are positions.
type located struct {
	column *column // or that of the latitude
	from   pattern
	share  float64 // of points that are where their records are
	n      int
	plain  bool
}

// located returns the columns that are positions where the records are.
func (in *inference) located() (found []located) {
	judge := func(c *column, points map[[2]int]point, from pattern) {
		near, known, elsewhere, all := in.nearness(points)
		if all == 0 || known < 1 || 4*known < all && in.records > 10 {
			return
		}
		share := shareOf(near, known)
		if share < 0.6 || in.records >= 10 && share-float64(elsewhere)/float64(known) < 0.3 {
			return
		}
		found = append(found, located{c, from, share, all, c.isPlain() && !c.isOfSeveral()})
	}
	pairs, single := in.positions()
	for _, p := range pairs {
		lat, lon := p.lat.pattern(), p.lon.pattern()
		lat.lon = &lon
		judge(p.lat, in.pointsOf(p), lat)
	}
	for _, c := range single {
		for _, swapped := range []bool{false, true} {
			at := c.pattern()
			if at.pairs = latFirst; swapped {
				at.pairs = lonFirst
			}
			if c.folded == "coordinates" && c.parent.byName["type"] != nil { // GeoJSON, which may be more than a point
				at = c.parent.pattern()
			}
			judge(c, in.pointsIn(c, swapped), at)
		}
	}
	for i := range found { // of a list whose entries all have one, none is that of the report
		if c := found[i].column; c.keyed {
			for !strings.HasPrefix(c.name, "[") {
				c = c.parent
			}
			found[i].plain = found[i].plain && !slices.ContainsFunc(found, func(of located) bool { return !of.column.keyed && of.column.isIn(c.parent) })
		}
	}
	return found
}

func (in *inference) position(all []located) {
	rank := func(l located) float64 {
		r := l.share + 0.5*float64(l.n)/float64(in.records) - 0.02*float64(l.column.depth())
		if l.column.of.means&in.bits("lat lon geo") != 0 {
			r += 0.2
		}
		return r
	}
	found := slices.DeleteFunc(slices.Clone(all), func(l located) bool { return !l.plain })
	if len(found) == 0 {
		return
	}
	best := found[first(found, rank)]
	in.mapping.Fields.Location = []pattern{best.from}
	in.note("location", best.column, "%.0f %% are where the report is", 100*best.share)
}

// code finds the column of a city's code.
func (in *inference) code() {
	if in.kind != report.Cities {
		return
	}
	best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
		if !c.isPlain() || c.name == memberName || c.of.codes < 0.8 || in.taken[c] != "" || 10*c.of.distinct < 8*c.of.n {
			return 0, false
		}
		agree, known := in.agreement(c, func(city *gazetteer.City, s string) bool { return slices.Contains(slices.Collect(city.Codes()), s) })
		score = agree + 0.3*in.share(c)
		named := in.has(c, "code iata id")
		if named {
			score += 0.3
		}
		return score, (known < 3 || agree >= 0.3 || in.records < 10) && (known >= 3 || named)
	})
	if best == nil {
		return
	}
	in.mapping.Fields.Code = []pattern{best.pattern()}
	in.note("code", best, "three letters, another in each report")
}

// agreement returns the share of a column's values that agree with the record's city, and for how many
// it is known.
func (in *inference) agreement(c *column, agrees func(*gazetteer.City, string) bool) (share float64, known int) {
	n := 0
	for _, v := range c.cells {
		if city := in.cities[v.record]; city != nil {
			known++
			if agrees(city, v.text) {
				n++
			}
		}
	}
	return shareOf(n, known), known
}

// isName reports whether a column has names or titles: one in each record, short and different.
func (in *inference) isName(c *column) bool {
	v := &c.of
	if c.of.n == 0 || in.taken[c] != "" || v.letters < 0.95 || v.markup > 0.1 || v.numbers > 0.05 || v.length > 160 || v.length < 1.5 || v.codes > 0.5 {
		return false
	}
	if in.records >= 8 && 10*v.distinct < 6*v.n {
		return false
	}
	return c.shareThat(func(s string) bool { // a slug, or an id
		return !strings.ContainsRune(s, ' ') && (strings.ContainsAny(s, "-_/:") && strings.ToLower(s) == s || strings.ContainsAny(s, "0123456789"))
	}) < 0.5
}

func (in *inference) title() {
	type candidate struct {
		c     *column
		score float64
		why   string
	}
	var found []candidate
	for _, c := range in.scalars {
		if !c.isPlain() || in.share(c) < 0.3 || !in.isName(c) || in.isForeign(c) || c.of.prose > 0.3 {
			continue
		}
		own := c.of.named
		score, why := 0.0, ""
		switch {
		case own&in.bits("title") != 0:
			score = 1
		case own&in.bits("name label") != 0:
			score = 0.8
		case own&in.bits("city destination") != 0 && in.kind == report.Cities:
			score = 0.7
		}
		if in.kind == report.Cities {
			share, known := in.agreement(c, func(city *gazetteer.City, s string) bool {
				found, _ := in.citiesIn(s)
				return slices.Contains(found, city)
			})
			if known > 3 && share < 0.5 {
				continue
			}
			score += share
			if split := in.separators(c); split != "" {
				if _, parts, all, _ := in.named(c, split); 5*parts >= 2*all { // other names
					score -= 0.3
				}
			}
			why = fmt.Sprintf("%.0f %% name the city", 100*share)
		} else {
			if c.of.length < 12 || c.of.spaced < 0.8 {
				score -= 0.7
			}
			score += 0.5 * c.shareThat(func(s string) bool { return strings.Count(s, " ") >= 2 || unspaced(s) >= 8 })
			ended := c.that(func(s string) bool {
				last, _ := utf8.DecodeLastRuneInString(s)
				return strings.ContainsRune(".。!…", last)
			})
			if 10*ended < c.of.n && 20*c.of.distinct > 19*c.of.n && c.of.length < 110 && c.of.spaced > 0.8 { // a heading, and no sentence
				score += 0.4 - 0.3*float64(c.before)/1000/float64(c.records)
			}
			why = "short, different in each report"
		}
		score -= 0.1*float64(c.of.unknown) + 0.03*float64(c.depth())
		if own&in.bits("summary text alias other parent link") != 0 {
			score -= 0.4
		}
		if score += in.share(c) - 0.8; in.share(c) < 0.9 { // a report has a title
			score -= 0.3
		}
		if language := in.languageOf(c); language == "en" {
			score += 0.1
		} else if language != "" {
			score -= 0.1
		}
		found = append(found, candidate{c, score, why})
	}
	if len(found) == 0 {
		return
	}
	for i, f := range found { // of two columns that name the city, the heading before the name is the title
		if in.kind != report.Cities || in.has(f.c, "summary text alias other parent link") || in.separators(f.c) != "" {
			continue
		}
		for _, of := range found {
			if f.c.parent == of.c.parent && f.c.before < of.c.before && in.isHeadingOf(f.c, of.c) {
				found[i].score = max(found[i].score, of.score+2*asGood)
			}
		}
	}
	i := first(found, func(f candidate) float64 { return f.score })
	best := found[i]
	found = slices.Delete(found, i, i+1)
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	found = slices.Insert(found, 0, best)
	if found[0].score < 0.5 {
		return
	}
	var from []pattern
	english := in.englishOf(found[0].c)
	if english != nil {
		from = append(from, english.pattern())
		in.note("title", english, "the same in English")
	}
	for i, f := range found {
		if i > 0 && (i > 2 || f.score < 0.6) {
			break
		}
		if f.c == english {
			continue
		}
		from = append(from, f.c.pattern())
		if i == 0 {
			in.note("title", f.c, "%s", f.why)
		}
	}
	for _, c := range found[0].c.translations() { // where the best one is empty
		if !slices.ContainsFunc(from, func(p pattern) bool { return p.text == c.pointer() }) {
			from = append(from, c.pattern())
		}
	}
	in.mapping.Fields.Title = from
}

// isHeadingOf reports whether the values of a column have those of another one in them, and more words.
func (in *inference) isHeadingOf(c, of *column) bool {
	names := map[int]string{}
	for _, v := range of.cells {
		names[v.record] = v.text
	}
	n := 0
	for _, v := range c.cells {
		name := names[v.record]
		if rest := strings.Replace(v.text, name, "", 1); name != "" && len(rest) < len(v.text) && strings.ContainsFunc(rest, unicode.IsLetter) {
			n++
		}
	}
	return c.of.length < 80 && nearlyAll(n, len(c.cells)) && nearlyAll(n, len(of.cells))
}

// languageOf returns the language of the entry of a list by language that a column is, or "".
func (in *inference) languageOf(c *column) string {
	for ; c.parent != nil; c = c.parent {
		if label, value, ok := strings.Cut(strings.Trim(c.name, "[]"), "="); ok && c.name[0] == '[' {
			if n := in.x.reader.name([]byte(label)); n.Concepts&in.bits("language") != 0 {
				return vocabulary.Language(value)
			}
		}
	}
	return ""
}

// isOfPlace reports whether a column is of the entries of a list that have a position, or a code, as
// well: of a place or an airport.
func (in *inference) isOfPlace(c *column) bool {
	for ; c.parent != nil; c = c.parent {
		if c.parent.name != "*" && c.parent.name != members {
			continue
		}
		for _, of := range in.scalars {
			if of.isIn(c.parent) && (of.of.degrees > 0.9 && of.of.whole < 0.9 || of.of.codes > 0.9) {
				return true
			}
		}
	}
	return false
}

// englishOf returns the column that has a title in English, of which c has the one in another language; or nil.
// It is called like c with something more, or as titles are, in an object or the entry of a list beside it.
func (in *inference) englishOf(c *column) *column {
	const few = 1 // known words, since a title has not many
	own := in.language(c, language.Sure)
	isForeign := own != "en" && (own != "" || c.ascii() < 0.5)
	var found []*column
	for _, of := range in.scalars {
		if of == c || !of.isPlain() || !in.isName(of) || in.isForeign(of) || of.of.prose > 0.3 || of.of.distinct < 2 {
			continue
		}
		rest, longer := strings.CutPrefix(of.folded, c.folded)
		beside, tag := of.parent == c.parent, in.languageOf(of)
		if beside && longer && vocabulary.IsLanguage(rest) {
			tag = vocabulary.Language(rest)
		}
		switch {
		case tag != "" && tag != "en", beside && !longer, !longer && of.of.named&in.bits("title") == 0:
		case tag == "en" && longer, isForeign && in.isAbout(of) && (in.language(of, few) == "en" || beside && of.ascii() > 0.8 && c.ascii() < 0.2):
			found = append(found, of)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[first(found, func(of *column) float64 { return in.share(of) - 0.03*float64(of.depth()) })]
}

// ascii returns the share of values without letters of other languages.
func (c *column) ascii() float64 {
	return shareOf(c.that(isASCII), len(c.cells))
}

// isAbout reports whether the values of a column are about what their records are, as far as names of cities and
// countries in them tell: the title of something else is not.
func (in *inference) isAbout(c *column) bool {
	here, known := 0, 0
	for _, v := range c.cells {
		cities, _ := in.citiesIn(v.text)
		if cities == nil || in.cities[v.record] == nil && len(in.nations[v.record]) == 0 {
			continue
		}
		known++
		if slices.ContainsFunc(cities, func(city *gazetteer.City) bool {
			return city == in.cities[v.record] || in.kind != report.Cities && in.nations[v.record][city.Country]
		}) {
			here++
		}
	}
	return 2*here >= known && (in.kind != report.Cities || known > 0)
}

// language returns the language of the values of a column, or "".
func (in *inference) language(c *column, fewest int) string {
	var all []byte
	for _, v := range c.cells {
		all = append(append(all, v.text...), '\n')
	}
	return in.x.detector.Of(all, fewest)
}

// names finds other names of the city.
// named returns how many values of a column name their city, how many of their parts do and how many parts
// there are, and of how many values the city is known.
func (in *inference) named(c *column, split string) (names, parts, all, known int) {
	seen, most := c.usual()
	for _, v := range c.cells {
		city := in.cities[v.record]
		if city == nil || v.text == most && seen[most] > 2 && 10*seen[most] > len(c.cells) && 2*seen[most] < len(c.cells) { // what stands for none
			continue
		}
		known++
		before := parts
		for part := range strings.FieldsFuncSeq(v.text, func(r rune) bool { return strings.ContainsRune(split, r) }) {
			all++
			if slices.Contains(in.citiesCalled(strings.TrimSpace(part)), city) {
				parts++
			}
		}
		if parts > before {
			names++
		}
	}
	return names, parts, all, known
}

func (in *inference) names() {
	if in.kind != report.Cities {
		return
	}
	var from []pattern
	for _, c := range in.scalars {
		field := in.taken[c]
		if in.isOfPlace(c) || field != "" && field != "title" || c.of.letters < 0.9 || c.of.length > 120 || in.isForeign(c) || c.isSlug() {
			continue
		}
		split := in.separators(c)
		names, parts, all, known := in.named(c, split)
		share := float64(names) / float64(max(1, known))
		if share < 0.3 || known < 3 && in.records > 5 || (share < 0.7 || 5*parts < 2*all) && !in.has(c, "alias other") {
			continue
		}
		from = append(from, c.pattern().splitBy(split))
		if field == "" {
			in.note("names", c, "%.0f %% are names of the city", 100*share)
		}
	}
	if from != nil {
		in.mapping.Fields.Names = from
	}
}

// listSigns stand between the values in a text that lists them.
const listSigns = ",;|/、，；"

// separators returns the signs between the names in a column: those where a part is a name of the city, and
// the whole is none, in most values that have the sign.
func (in *inference) separators(c *column) (signs string) {
	for _, sign := range listSigns {
		with, parts := 0, 0
		for _, v := range c.cells {
			city := in.cities[v.record]
			if city == nil || !strings.ContainsRune(v.text, sign) {
				continue
			}
			with++
			for part := range strings.SplitSeq(v.text, string(sign)) {
				if slices.Contains(in.citiesCalled(strings.TrimSpace(part)), city) && !slices.Contains(in.citiesCalled(v.text), city) {
					parts++
					break
				}
			}
		}
		if 2*parts > with {
			signs += string(sign)
		}
	}
	return signs
}

// isSlug reports whether the values of a column are written for addresses: in small letters without spaces,
// some with hyphens.
func (c *column) isSlug() bool {
	slugs := c.that(func(s string) bool { return isASCII(s) && strings.ToLower(s) == s && !strings.ContainsRune(s, ' ') })
	return 10*slugs > 8*len(c.cells) && c.that(func(s string) bool { return strings.ContainsAny(s, "-_/") }) > 0
}

func (in *inference) airports() {
	if in.kind != report.Cities {
		return
	}
	var from []pattern
	best := 0.0
	for _, c := range in.scalars {
		if in.taken[c] != "" || c.of.length > 40 {
			continue
		}
		codes, agree, known, all := 0, 0, 0, 0
		for _, v := range c.cells {
			city := in.cities[v.record]
			for word := range strings.FieldsFuncSeq(v.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
				all++
				if len(word) != 3 || strings.ToUpper(word) != word || !isASCII(word) {
					continue
				}
				codes++
				if city != nil {
					known++
					if slices.Contains(slices.Collect(city.Codes()), word) {
						agree++
					}
				}
			}
		}
		if all == 0 || 10*codes < 9*all {
			continue
		}
		named := c.of.named&in.bits("airport iata") != 0 || c.of.means&in.bits("airport") != 0
		share := float64(agree) / float64(max(1, known))
		if known >= 5 && share < 0.3 || !named && (known < 5 || share < 0.5) {
			continue
		}
		if share+0.5*in.share(c) > best+0.2 || named {
			best = max(best, share)
			from = append(from, c.pattern().splitBy(",;|/ "))
			in.note("airports", c, "codes of airports, %.0f %% those of the city", 100*share)
		}
	}
	if from != nil {
		in.mapping.Fields.Airports = from
	}
}

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
	date, _, _ := strings.Cut(strings.ReplaceAll(s, "T", " "), " ")
	day, month := numbersOf(strings.ReplaceAll(date, ".", "/"))
	return !day.IsZero() || !month.IsZero()
}

// isUsual reports whether a date may be one of a report: what systems write for none lies outside.
func isUsual(t time.Time) bool { return t.Year() >= 1980 && t.Year() < 2100 }

// level finds the column of the risk level of the whole report, and its scale.
func (in *inference) level() {
	type candidate struct {
		c     *column
		scale levelScale
		score float64
	}
	var found []candidate
	for _, c := range in.scalars {
		if !c.isPlain() || in.taken[c] != "" || c.of.distinct > 12 || c.of.length > 60 || in.share(c) < 0.1 {
			continue
		}
		if in.threatOf(c) >= 0 || in.isOneOfRatings(c) || in.isOneOfAlike(c) {
			continue
		}
		scale, ok := in.scaleOf(c, false)
		if ordered, coloured, is := in.orderBeside(c); is && (coloured || c.of.means&in.bits("risk level rating severity threat security advisory") != 0) {
			scale, ok = ordered, true
		}
		if !ok || in.isForeign(c) && (!scale.worded || c.of.distinct < 3) {
			continue
		}
		own := c.of.named | in.beginning(c)
		score := 0.0
		switch {
		case own&in.bits("risk level rating severity threat security") != 0:
			score = 1
		case c.of.means&in.bits("risk level rating severity threat security") != 0:
			score = 0.7
		case scale.worded && c.of.distinct > 2:
			score = 0.4
		case in.highestBeside(c) > 0:
			score = 0.7
		case in.isOfOther(c, scale):
			score = 1
		default:
			continue
		}
		switch {
		case in.highestBeside(c) > 0: // which says what the labels only suggest
			score += 0.4
		case scale.worded:
			score += 0.3
		case in.isLabelled(c):
			score += 0.2
		default:
			score -= 0.3 + 0.3*float64(c.of.unknown)
		}
		if score < 0.5 {
			continue
		}
		if own&in.bits("risk") != 0 || own&in.bits("security threat") != 0 && own&in.bits("level rating") != 0 {
			score += 0.2
		}
		if own&in.bits("category score") != 0 {
			score -= 0.3
		}
		if in.isForeign(c) { // as in Alert status, but the level before is one of these as well
			score -= 0.4
		}
		score += 0.5*in.share(c) - 0.1*float64(c.of.unknown) - 0.03*float64(c.depth())
		found = append(found, candidate{c, scale, score})
	}
	if len(found) == 0 {
		return
	}
	best := found[first(found, func(f candidate) float64 { return f.score })]
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	m := in.mapping
	m.Fields.RiskLevel = []pattern{best.c.pattern()}
	m.Fields.RiskLabel = m.Fields.RiskLevel
	m.RiskLevels = best.scale.levels
	in.taken[best.c] = "risk_level"
	in.note("risk_level", best.c, "a scale: %s", best.scale)
	for _, f := range found { // the label beside a number, or the number beside a label
		if f.scale.worded && !best.scale.worded && in.follows(f.c, best.c) {
			m.Fields.RiskLabel = []pattern{f.c.pattern()}
			in.note("risk_label", f.c, "goes with the level")
			break
		}
	}
}

// within reports whether a scale has all labels of another one.
func within(labels, scale map[string]int) bool {
	for label := range labels {
		if _, ok := scale[label]; !ok {
			return false
		}
	}
	return true
}

// widest returns the scale with most labels of those that have all of a scale's: of it, only some were seen.
func widest(levels map[string]int, others []otherScale) map[string]int {
	for _, other := range others {
		if len(other.levels) > len(levels) && within(levels, other.levels) {
			levels = other.levels
		}
	}
	return levels
}

// beginning returns what a compound in a column's name begins with, whose end is an abbreviation: risikoniv is
// of a risk.
func (in *inference) beginning(c *column) (all vocabulary.Concepts) {
	for ; c.isWrapped(); c = c.parent {
	}
	const shortest, longestEnd = 4, 4 // letters
	for _, word := range vocabulary.Words(c.name) {
		for end := len(word) - 2; end >= max(shortest, len(word)-longestEnd); end-- {
			if utf8.RuneStart(word[end]) {
				all |= in.x.reader.name([]byte(word[:end])).Concepts
			}
		}
	}
	return all
}

// isOneOfRatings reports whether a column is an entry of a list, or a member of an object, of which
// others are called after threats.
func (in *inference) isOneOfRatings(c *column) bool {
	whole := in.bits("risk level rating severity threat security safety")
	if c.of.unknown == 0 && c.of.named&in.bits("risk threat security safety") != 0 && c.of.named&in.bits("level rating severity") != 0 && c.of.named&^whole == 0 {
		return false // it is called after the whole
	}
	for of := c; of.parent != nil; of = of.parent {
		if strings.HasPrefix(of.name, "[") || of == c {
			n := 0
			for _, other := range of.parent.children {
				if other != of && strings.HasPrefix(of.name, "[") == strings.HasPrefix(other.name, "[") && in.threatOf(other) >= 0 {
					n++
				}
			}
			if n > 2 && strings.HasPrefix(of.name, "[") || n > 3 && in.threatOf(c) >= 0 {
				return true
			}
		}
	}
	return false
}

// isOneOfAlike reports whether a column is a member of an object most of whose members are on one scale, and
// says nothing of the whole: such an object rates topics, whatever they are called.
func (in *inference) isOneOfAlike(c *column) bool {
	const fewest = 4
	if strings.HasPrefix(c.name, "{/") { // what a table says that its values mean
		c = c.parent
	}
	if c.parent == nil || c.name == "*" || c.of.named&in.bits("risk level rating severity") != 0 {
		return false
	}
	alike := 0
	labels := labelsOf(c)
	for _, of := range c.parent.children {
		if of != c && of.of.distinct > 1 {
			here := 0
			for label := range labelsOf(of) {
				if labels[label] {
					here++
				}
			}
			if 3*here >= 2*max(of.of.distinct, len(labels)) {
				alike++
			}
		}
	}
	return alike >= fewest && 2*alike >= len(c.parent.children)
}

// highestBeside returns the one number that stands beside nearly all values of a column of small numbers, and
// is not smaller than any of them, as in {"degree": 2, "of": 4}; else 0.
func (in *inference) highestBeside(c *column) int {
	if c.of.whole < 0.9 || c.of.distinct < 2 {
		return 0
	}
	high := 0
	seen, _ := c.usual()
	for text := range seen {
		n, _ := strconv.Atoi(text)
		high = max(high, n)
	}
	for _, of := range c.parent.children {
		if of == c || of.of.distinct == 0 || of.of.distinct > 3 || of.of.whole < 0.9 || !nearlyAll(len(of.cells), max(len(of.cells), len(c.cells))) || len(c.parent.children) > 6 && !beginAlike(of.folded, c.folded) {
			continue
		}
		seen, most := of.usual()
		if n, err := strconv.Atoi(most); err == nil && 20*seen[most] >= 19*len(of.cells) && n >= high && n >= 3 && n <= 10 {
			return n
		}
	}
	return 0
}

// beginAlike reports whether two names have most of the shorter one in common, as levelno and levelmax do.
func beginAlike(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 4 && 2*n > min(len(a), len(b))
}

// orderBeside returns the scale of labels beside which a number says the order of each, in equal steps, as
// {"name": "Watch", "weight": 10} does, or a colour from green to red.
func (in *inference) orderBeside(c *column) (scale levelScale, coloured, ok bool) {
	if c.of.letters < 0.9 || c.of.distinct < 3 || c.of.distinct > 7 {
		return levelScale{}, false, false
	}
	if _, most := c.usual(); strings.HasPrefix(most, "#") {
		return levelScale{}, false, false
	}
	for _, of := range c.parent.children {
		if of == c || of.of.distinct != c.of.distinct || len(of.cells) < len(c.cells)*9/10 {
			continue
		}
		place, coloured := coloursOf(of)
		if !coloured {
			place = numbersIn(of)
		}
		if !coloured && of.of.whole < 0.99 || !in.follows(of, c) || !in.follows(c, of) {
			continue
		}
		order := map[string]int{}
		labels, _ := c.usual()
		with := in.beside(c, of)
		for label := range labels {
			if n, known := place[with[label]]; known {
				order[vocabulary.Fold(label)] = n
			}
		}
		numbers := slices.Compact(slices.Sorted(maps.Values(order)))
		if len(numbers) < 3 {
			continue
		}
		step, even := numbers[1]-numbers[0], true
		for i := range numbers[1:] {
			even = even && numbers[i+1]-numbers[i] == step
		}
		low := numbers[0]
		if !even || low != 0 && low != step && low != 1 {
			continue
		}
		scale := levelScale{levels: map[string]int{}, worded: true}
		for label, n := range order {
			scale.levels[label], _ = riskScale{low: 0, high: len(numbers) - 1}.level(float64((n - low) / step))
		}
		scale.levels = widest(scale.levels, in.others)
		return scale, coloured, true
	}
	return levelScale{}, false, false
}

// numbersIn returns the whole numbers among the values of a column.
func numbersIn(c *column) map[string]int {
	all := map[string]int{}
	seen, _ := c.usual()
	for text := range seen {
		if n, err := strconv.Atoi(text); err == nil {
			all[text] = n
		}
	}
	return all
}

// coloursOf returns the order of the colours in a column, such as #4caf50, from green over yellow to red,
// lighter ones first; false if it has others.
func coloursOf(c *column) (place map[string]int, ok bool) {
	const greenest = 170 // degrees of hue
	rank := map[string]float64{}
	seen, _ := c.usual()
	for text := range seen {
		hex, isHex := strings.CutPrefix(text, "#")
		n, err := strconv.ParseUint(hex, 16, 32)
		if !isHex || err != nil || len(hex) != 6 {
			return nil, false
		}
		r, g, b := float64(n>>16), float64(n>>8&255), float64(n&255)
		high, low := max(r, g, b), min(r, g, b)
		hue := 0.0
		switch {
		case high == low || high == b:
			return nil, false
		case high == r:
			hue = 60 * (g - b) / (high - low)
		default:
			hue = 60 * (2 + (b-r)/(high-low))
		}
		if hue > greenest {
			return nil, false
		}
		rank[text] = -hue - high/255
	}
	place = map[string]int{}
	for i, colour := range slices.SortedFunc(maps.Keys(rank), func(a, b string) int { return cmp.Compare(rank[a], rank[b]) }) {
		place[colour] = i
	}
	return place, true
}

// isOfOther reports whether another kind has its level in the same place, with these values among others.
func (in *inference) isOfOther(c *column, scale levelScale) bool {
	end := func(p jsontext.Pointer) string { return string(p[len(p.Parent().Parent()):]) }
	return slices.ContainsFunc(in.others, func(other otherScale) bool {
		return within(scale.levels, other.levels) && end(other.at) == end(c.pointer())
	})
}

// isLabelled reports whether another column has a label for each value of a column.
func (in *inference) isLabelled(c *column) bool {
	return c.of.distinct > 2 && slices.ContainsFunc(in.scalars, func(of *column) bool {
		return of != c && of.of.letters > 0.9 && of.of.length < 40 && of.of.distinct == c.of.distinct && of.isPlain() && in.follows(of, c) && in.follows(c, of)
	})
}

// beside returns for each value of a column the one of another column that it mostly stands beside.
func (in *inference) beside(a, b *column) map[string]string {
	of := map[int]string{}
	for _, v := range b.cells {
		of[v.record] = v.text
	}
	with, times := map[string]string{}, map[[2]string]int{}
	for _, v := range a.cells {
		other, ok := of[v.record]
		if !ok {
			continue
		}
		times[[2]string{v.text, other}]++
		n, most := times[[2]string{v.text, other}], times[[2]string{v.text, with[v.text]}]
		if was, again := with[v.text]; !again || n > most || n == most && other < was {
			with[v.text] = other
		}
	}
	return with
}

// follows reports whether each value of one column stands beside one value of another.
func (in *inference) follows(a, b *column) bool {
	of := map[int]string{}
	for _, v := range b.cells {
		of[v.record] = v.text
	}
	with, same, n := in.beside(a, b), 0, 0
	for _, v := range a.cells {
		if other, ok := of[v.record]; ok {
			n++
			if with[v.text] == other {
				same++
			}
		}
	}
	return n > 0 && 20*same >= 19*n
}

// otherScale is what the values of a level mean in another kind, and where that has them.
type otherScale struct {
	levels map[string]int
	at     jsontext.Pointer
}

// levelScale says what level each value of a column means.
type levelScale struct {
	levels map[string]int // by folded value
	worded bool
}

func (s levelScale) String() string {
	var all []string
	for _, label := range slices.SortedFunc(maps.Keys(s.levels), func(a, b string) int {
		return cmp.Or(s.levels[a]-s.levels[b], strings.Compare(a, b))
	}) {
		all = append(all, fmt.Sprintf("%s %d", label, s.levels[label]))
	}
	return strings.Join(all, ", ")
}

// scaleOf returns the scale that the values of a column are on together. rates says that they are ratings,
// of which numbers alone do not tell.
func (in *inference) scaleOf(c *column, rates bool) (levelScale, bool) {
	seen := map[string]int{}
	for _, v := range c.cells {
		seen[vocabulary.Fold(v.text)]++
	}
	value := func(label string) int {
		n, err := strconv.Atoi(label)
		if err != nil {
			return math.MinInt
		}
		return n
	}
	ascending := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return cmp.Or(cmp.Compare(value(a), value(b)), strings.Compare(a, b)) })
	for _, label := range ascending { // the next number may be rare
		before := strconv.Itoa(value(label) - 1)
		if isStray(seen[label], len(c.cells)) && len(seen) > 2 && (value(label) < 0 || seen[before] == 0) && !isOnScaleOf(label, seen) {
			delete(seen, label)
		}
	}
	labels := slices.Sorted(maps.Keys(seen))
	if ranks, ok := severities(labels); ok {
		scale := levelScale{ranks, true}
		scale.levels = widest(scale.levels, append(slices.Clip(in.others), otherScale{levels: in.mapping.RiskLevels}))
		return scale, true
	}
	if known, ok := mostly(seen, len(c.cells)); ok { // such as Unknown among them
		if ranks, ok := severities(known); ok {
			return levelScale{ranks, true}, true
		}
	}
	if scale, ok := in.grades(c, seen); ok {
		return scale, true
	}
	numbers := map[string]int{}
	low, high := math.MaxInt, 0
	of := 0
	others := 0 // such as NA
	for _, label := range labels {
		n, top, ok := numberIn(label)
		if !ok {
			others += seen[label]
			continue
		}
		if n > 10 {
			return levelScale{}, false
		}
		numbers[label] = n
		low, high, of = min(low, n), max(high, n), max(of, top)
	}
	if len(numbers) == 0 || 10*others > len(c.cells) {
		return levelScale{}, false
	}
	if of == 0 {
		of = in.highestBeside(c)
	}
	if of > 0 {
		high = of
	}
	for _, usual := range []int{3, 4, 5, 6, 7, 10} {
		if high <= usual {
			if of == 0 && usual < 4 && in.records < 30 {
				continue
			}
			high = usual
			break
		}
	}
	low = min(low, 1)
	for _, other := range in.others { // numbers of the same place
		if end := strings.LastIndexByte(string(c.pointer()), '/'); within(seen, other.levels) && strings.HasSuffix(string(other.at), string(c.pointer()[max(0, end):])) {
			return levelScale{levels: other.levels}, true
		}
	}
	scale := levelScale{levels: map[string]int{}}
	for i := low; i <= high; i++ {
		level, ok := riskScale{low: low, high: high}.level(float64(i))
		if ok {
			scale.levels[strconv.Itoa(i)] = level
		}
	}
	for label, n := range numbers {
		scale.levels[label] = scale.levels[strconv.Itoa(n)]
	}
	if high > 5 && !rates && c.of.named&in.bits("risk level rating severity") == 0 {
		return levelScale{}, false
	}
	return scale, true
}

// grades returns the scale of letters, such as A to E: A is the lowest risk, unless the ratings of threats in
// the same records fall from it on.
func (in *inference) grades(c *column, seen map[string]int) (levelScale, bool) {
	const last = 'g'
	if len(seen) < 3 || c.of.named&in.bits("level rating risk score severity") == 0 && c.of.means&in.bits("level rating risk severity") == 0 {
		return levelScale{}, false
	}
	high, graded := 0, 0
	for label, n := range seen {
		if len(label) == 1 && label[0] >= 'a' && label[0] <= last {
			high, graded = max(high, int(label[0]-'a')), graded+n
		}
	}
	if !nearlyAll(graded, len(c.cells)) {
		return levelScale{}, false
	}
	scale := levelScale{levels: map[string]int{}, worded: true}
	for _, other := range in.others {
		if n := len(other.levels); other.levels["a"] > 0 && other.levels[string(rune('a'+n-1))] > 0 {
			high = max(high, n-1)
		}
	}
	high = max(high, 3)
	falls := in.falls(c)
	for i := range high + 1 {
		of := i
		if falls {
			of = high - i
		}
		scale.levels[string(rune('a'+i))], _ = riskScale{low: 0, high: high}.level(float64(of))
	}
	return scale, true
}

// falls reports whether the ratings of threats are lower in records in which a column has a later letter.
func (in *inference) falls(c *column) bool {
	rated, n := make([]int, in.records), make([]int, in.records)
	for _, of := range in.scalars {
		if of == c || of.of.distinct > 12 || in.threatOf(of) < 0 {
			continue
		}
		ranks, ok := severities(slices.Sorted(maps.Keys(labelsOf(of))))
		for _, v := range of.cells {
			if level, err := strconv.Atoi(v.text); err == nil && level <= 10 {
				rated[v.record], n[v.record] = rated[v.record]+level, n[v.record]+1
			} else if level := ranks[vocabulary.Fold(v.text)]; ok && level > 0 {
				rated[v.record], n[v.record] = rated[v.record]+level, n[v.record]+1
			}
		}
	}
	up, down := 0, 0
	for _, a := range c.cells {
		for _, b := range c.cells {
			if n[a.record] == 0 || n[b.record] == 0 || vocabulary.Fold(a.text) >= vocabulary.Fold(b.text) {
				continue
			}
			switch x, y := rated[a.record]*n[b.record], rated[b.record]*n[a.record]; {
			case x < y:
				up++
			case x > y:
				down++
			}
		}
	}
	return down > 2*up
}

func labelsOf(c *column) map[string]bool {
	all := map[string]bool{}
	for _, v := range c.cells {
		all[vocabulary.Fold(v.text)] = true
	}
	return all
}

// isOnScaleOf reports whether a label is on the scale that most others are on: the highest level may be rare.
func isOnScaleOf(label string, others map[string]int) bool {
	best, is := 0, false
	for i := range severity {
		n := 0
		for other := range others {
			if _, ok := severity[i].placeOf(other); ok {
				n++
			}
		}
		if n > best {
			best = n
			_, is = severity[i].placeOf(label)
		}
	}
	return is && best > 2
}

// mostly returns the labels of the scale that has most of them, if they are at least three and nearly all
// that there are.
func mostly(seen map[string]int, all int) (known []string, ok bool) {
	best := 0
	for i := range severity {
		n := 0
		var labels []string
		for _, label := range slices.Sorted(maps.Keys(seen)) {
			if _, ok := severity[i].placeOf(label); ok {
				labels = append(labels, label)
				n += seen[label]
			}
		}
		if n > best {
			best, known = n, labels
		}
	}
	return known, len(known) >= 3 && 100*best >= 85*all
}

// numberIn returns the only number in a label, such as Level 3, 3/5 or three stars.
func numberIn(label string) (n, of int, ok bool) {
	if stars := strings.Count(label, "★"); stars > 0 {
		return stars, stars + strings.Count(label, "☆"), true
	}
	if f, err := strconv.ParseFloat(label, 64); err == nil {
		return int(f), 0, f == math.Trunc(f) && f >= 0
	}
	var all []int
	for word := range strings.FieldsFuncSeq(label, func(r rune) bool { return !unicode.IsDigit(r) }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, 0, false
		}
		all = append(all, n)
	}
	switch {
	case len(all) == 1:
		return all[0], 0, true
	case len(all) == 2 && all[1] >= all[0] && all[1] >= 2 && all[1] <= 10:
		return all[0], all[1], true
	}
	return 0, 0, false
}

// threatOf returns the threat that a column is called after, or -1.
func (in *inference) threatOf(c *column) int {
	threat, _ := in.threatAt(c)
	return threat
}

// threatAt returns the threat that a column is called after, or -1, and which of the columns that it is in
// says so.
func (in *inference) threatAt(c *column) (int, *column) {
	if !c.askedThreat {
		c.askedThreat = true
		c.threat, c.threatAt = in.findThreat(c)
	}
	return c.threat, c.threatAt
}

func (in *inference) findThreat(c *column) (int, *column) {
	for of := c; of != nil && of.parent != nil; of = of.parent {
		name := of.name
		if name == "*" || strings.HasPrefix(name, "{") {
			continue
		}
		if of.called != "" {
			name = of.called
		}
		if strings.HasPrefix(name, "[") {
			_, name, _ = strings.Cut(strings.TrimSuffix(name, "]"), "=")
		}
		var words []string
		shared := of.sharedWords()
		for _, word := range vocabulary.Words(name) {
			if !shared[vocabulary.Fold(word)] && in.x.reader.name([]byte(word)).Concepts&in.bits("risk level rating score severity threat category label name number text date") == 0 {
				words = append(words, word)
			}
		}
		if threat, ok := in.x.threatWords.named([]byte(strings.Join(words, " "))); ok {
			return threat, of
		}
		if own, _ := in.nameOf(of); own != 0 && own&^in.bits("risk level rating score severity threat category label name id number text date") != 0 {
			return -1, nil
		}
	}
	return -1, nil
}

// sharedWords returns the words that the names of at least three members of an object begin with: they say
// what these are together.
func (c *column) sharedWords() map[string]bool {
	if c.parent == nil || strings.HasPrefix(c.name, "[") {
		return nil
	}
	if c.parent.shared != nil {
		return c.parent.shared
	}
	n := map[string]int{}
	for _, of := range c.parent.children {
		if words := vocabulary.Words(of.name); len(words) > 1 {
			n[vocabulary.Fold(words[0])]++
		}
	}
	shared := map[string]bool{}
	for word, times := range n {
		if times >= 3 {
			shared[word] = true
		}
	}
	c.parent.shared = shared
	return shared
}

// threats finds the columns that name threats, and rate them.
func (in *inference) threats() {
	labels, lists := in.threatLabels()
	rated := in.ratings(lists)
	isRated := func(r ratedColumn) bool { return r.Level != nil }
	if len(rated) > 0 || slices.ContainsFunc(labels, isRated) { // what only names them is a heading, or the like
		labels = slices.DeleteFunc(labels, func(r ratedColumn) bool { return !isRated(r) })
	}
	in.mapping.Rated = append(labels, rated...)
}

// ratings finds columns that are called after threats and have ratings, or are entries of a list that are,
// but for lists of which it is known. Those beside one another are on one scale.
func (in *inference) ratings(lists []*column) (rated []ratedColumn) {
	type key struct {
		parent *column
		rest   string
	}
	families, best, scales := map[key][]*column{}, map[*column]key{}, map[key]levelScale{}
	var order []key
	for _, c := range in.scalars {
		threat, at := in.threatAt(c)
		if in.taken[c] != "" || c.of.distinct > 12 || c.of.length > 40 || !c.isPlain() || threat < 0 {
			continue
		}
		k := key{at.parent, string(c.within(at))}
		if slices.Contains(lists, k.parent) {
			continue
		}
		if families[k] == nil {
			order = append(order, k)
		}
		families[k] = append(families[k], c)
	}
	named := map[*column]int{}
	for _, k := range order { // what stands beside ratings may be called after a threat in short
		if len(families[k]) < 3 {
			continue
		}
		for _, c := range in.scalars {
			if in.taken[c] != "" || !c.isPlain() || c.of.distinct > 12 || in.threatOf(c) >= 0 {
				continue
			}
			at := c
			for at.parent != nil && at.parent != k.parent {
				at = at.parent
			}
			if at.parent == nil || string(c.within(at)) != k.rest || strings.HasPrefix(at.name, "[") {
				continue
			}
			shared := at.sharedWords()
			words := slices.DeleteFunc(vocabulary.Words(at.name), func(word string) bool { return shared[vocabulary.Fold(word)] })
			if threat, ok := in.x.threatWords.shortened(strings.Join(words, " ")); ok {
				families[k] = append(families[k], c)
				named[c] = threat
			}
		}
	}
	for _, k := range order {
		all := &column{parent: k.parent, name: families[k][0].name}
		for _, c := range families[k] {
			all.cells = append(all.cells, c.cells...)
		}
		in.look(all)
		scale, ok := in.scaleOf(all, len(families[k]) >= 3)
		if !ok || !scale.worded && len(families[k]) < 3 {
			continue
		}
		if of, again := best[k.parent]; !again || scale.worded && !scales[of].worded {
			best[k.parent] = k
		}
		scales[k] = scale
	}
	for _, k := range order {
		scale := scales[k]
		if best[k.parent] != k || scale.levels == nil { // of two ratings, one counts
			continue
		}
		for _, c := range families[k] {
			of, short := named[c]
			if !short {
				of = in.threatOf(c)
			}
			threat := in.x.threatWords.names[of]
			rated = append(rated, ratedColumn{At: c.pattern(), Threat: threat, Levels: scale.levels})
			in.note("threats", c, "rates %s: %s", threat, scale)
		}
	}
	return rated
}

// threatLabels finds columns whose values name threats, and the lists that rate them as well.
func (in *inference) threatLabels() (rated []ratedColumn, lists []*column) {
	for _, c := range in.scalars {
		if in.taken[c] != "" || c.of.length > 60 || c.of.numbers > 0 || c.isSlug() && 2*c.of.distinct > c.of.n {
			continue
		}
		threats, known, all := map[int]bool{}, 0, 0
		seen := map[string]bool{}
		for _, v := range c.cells {
			for part := range in.x.threatWords.entries(v.text) {
				if seen[part] {
					continue
				}
				seen[part] = true
				all++
				if threat, ok := in.x.threatWords.entry(part); ok {
					known++
					threats[threat] = true
				}
			}
		}
		few := in.records < 10 || 2*all < 3*c.of.n
		if all > 0 && 10*c.of.n > 6*all*in.records && in.records > 5 {
			few = false // headings, which nearly all records have
		}
		if len(threats) < 2 || all > 80 || 10*known < 4*all {
			continue
		}
		r := ratedColumn{At: c.pattern()}
		entry := c.entry()
		for _, of := range in.scalars { // its rating beside it
			if of == c || in.taken[of] != "" || entry == nil || of.entry() != entry || of.of.distinct > 12 || of.of.length > 40 || of.isOrdinal() {
				continue
			}
			if scale, ok := in.scaleOf(of, true); ok && of.of.named&in.bits("id number") == 0 {
				level, each := patternOf(of.within(entry)), entry.pattern()
				r.Each, r.At, r.Level, r.Levels = &each, patternOf(c.within(entry)), &level, scale.levels
				lists = append(lists, entry.parent)
				in.note("threats", of, "rates threats: %s", scale)
				break
			}
		}
		if !few && r.Level == nil {
			continue
		}
		r.Names = in.x.threatWords.byExclusion(seen, threats, r.Level != nil)
		rated = append(rated, r)
		in.note("threats", c, "%d of %d of its labels are threats", known, all)
	}
	return rated, lists
}

// ratedColumn says where a record names threats, or rates one.
type ratedColumn struct {
	Each   *pattern          `json:"each,omitzero"`   // the entries of a list; nil if the record itself has it
	At     pattern           `json:"at"`              // what names the threat, or rates the one that is known
	Threat string            `json:"threat,omitzero"` // empty if the value names it
	Names  map[string]string `json:"names,omitzero"`  // the threats of labels, folded, that could be of several
	Level  *pattern          `json:"level,omitzero"`  // its rating, from an entry
	Levels map[string]int    `json:"levels,omitzero"` // of the values of a rating, folded
}

// relativeTo returns a pattern of a position from an outer column.
func relativeTo(p pattern, outer *column) pattern {
	from := len(outer.pointer())
	r := patternOf(p.text[from:])
	r.pairs = p.pairs
	if p.lon != nil {
		lon := patternOf(p.lon.text[from:])
		r.lon = &lon
	}
	return r
}

func (in *inference) placesOf(all []located) {
	lists := map[*column]located{}
	for _, l := range all {
		for of := l.column.parent; of != nil; of = of.parent {
			if of.name == "*" || of.name == members {
				if _, ok := lists[of]; !ok {
					lists[of] = l
				}
				break
			}
		}
	}
	var each []pattern
	var name []pattern
	var at []pattern
	for _, list := range slices.SortedFunc(maps.Keys(lists), byPointer) {
		l := lists[list]
		best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
			if !c.isIn(list) || c.of.letters < 0.9 || c.of.length > 80 || c.of.markup > 0.1 || c.keyed || strings.Contains(string(c.within(list)), "*") || in.textPoint(c) > 0.3 {
				return 0, false
			}
			own := c.of.named
			score = shareOf(c.of.distinct, c.of.n) + shareOf(c.of.n, list.objects)
			if own&in.bits("name title label") != 0 {
				score++
			}
			if own&in.bits("category id code link text summary") != 0 {
				score -= 0.5
			}
			return score + 0.3*c.shareThat(func(s string) bool { return strings.ContainsRune(s, ' ') }) - 0.1*float64(c.of.unknown), true
		})
		if best == nil {
			continue
		}
		each, name, at = append(each, list.pattern()), append(name, patternOf(best.within(list))), append(at, relativeTo(l.from, list))
		in.note("places", best, "names with positions near the report's")
	}
	for _, c := range in.scalars { // texts with a name and a position
		if in.taken[c] != "" || c.of.letters < 0.9 || c.of.numbers > 0 {
			continue
		}
		for _, order := range []pairOrder{latFirst, lonFirst} {
			points := map[[2]int]point{}
			n := 0
			for _, v := range c.cells {
				if _, first, second, ok := cutPosition(v.text); ok {
					n++
					if order == lonFirst {
						first, second = second, first
					}
					points[v.elementOf()] = point{first, second}
				}
			}
			near, known, elsewhere, _ := in.nearness(points)
			if n < 3 || 3*n < len(c.cells) || known == 0 || 10*near < 6*known || in.records >= 10 && 10*(near-elsewhere) < 3*known {
				continue
			}
			self := pattern{pairs: order}
			each, name, at = append(each, c.pattern()), append(name, pattern{}), append(at, self)
			in.note("places", c, "names, %d of them with positions near the report's", n)
			break
		}
	}
	var listed []*column           // each place once, though it has names in several languages
	for _, c := range in.scalars { // names of cities in the countries that a report is about
		if in.kind == report.Cities || in.taken[c] != "" || c.of.letters < 0.9 || c.of.length > 40 || in.isForeign(c) || c.isSlug() || in.isOfPlace(c) || slices.ContainsFunc(each, func(p pattern) bool { return p.text == c.pointer() }) {
			continue
		}
		known, here := 0, 0
		for _, v := range c.cells {
			if cities := in.citiesCalled(v.text); cities != nil && in.countryOf(v.text) == "" {
				known++
				if slices.ContainsFunc(cities, func(city *gazetteer.City) bool { return in.nations[v.record][city.Country] }) {
					here++
				}
			}
		}
		if here < 3 || 10*known < 7*len(c.cells) || 10*here < 7*known || slices.ContainsFunc(listed, func(of *column) bool { return in.sameCities(of, c) }) {
			continue
		}
		listed = append(listed, c)
		each, name, at = append(each, c.pattern()), append(name, pattern{}), append(at, pattern{})
		in.note("places", c, "%d of %d are cities where the report is", here, len(c.cells))
	}
	if each == nil {
		return
	}
	in.mapping.Places.Each, in.mapping.Places.Name = each, name
	in.mapping.Places.Location = at
}

// sameCities reports whether two columns of the entries of one list mostly name the same cities, as in two languages.
func (in *inference) sameCities(a, b *column) bool {
	if a.entry() == nil || a.entry() != b.entry() {
		return false
	}
	of := map[[2]int][]*gazetteer.City{}
	for _, v := range a.cells {
		of[v.elementOf()] = in.citiesCalled(v.text)
	}
	same, both := 0, 0
	for _, v := range b.cells {
		if cities := of[v.elementOf()]; cities != nil {
			both++
			if slices.ContainsFunc(in.citiesCalled(v.text), func(city *gazetteer.City) bool { return slices.Contains(cities, city) }) {
				same++
			}
		}
	}
	return 2*same > both
}

func (in *inference) summary() {
	best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
		ok = in.has(c, "summary") && in.taken[c] == "" && c.isPlain() && c.of.length >= 40 && c.of.spaced >= 0.9 && in.share(c) >= 0.5 && !in.isForeign(c)
		return 1 + in.share(c) - 0.1*float64(c.of.unknown) - 0.05*float64(c.depth()), ok
	})
	if best == nil {
		return
	}
	in.mapping.Fields.Summary = []pattern{best.pattern()}
	in.note("summary", best, "by its name")
}

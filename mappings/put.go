package mappings

import (
	"strconv"
	"time"

	"riskdex/internal/vocabulary"
)

// put writes a scalar as a string.
func (x *extractor) put(at uint32, convert func(*extractor, []byte) ([]byte, verdict)) verdict {
	s, v := x.scalar(at)
	if v != fits {
		return v
	}
	if s, v = convert(x, s); v == fits {
		x.quote(s)
	}
	return v
}

func (x *extractor) putLine(at uint32) verdict      { return x.put(at, (*extractor).line) }
func (x *extractor) putSummary(at uint32) verdict   { return x.put(at, (*extractor).summary) }
func (x *extractor) putRiskLabel(at uint32) verdict { return x.put(at, (*extractor).riskLabel) }

func (x *extractor) putCode(at uint32) verdict {
	v := x.put(at, (*extractor).code)
	x.tree.nodes[at].used = v == fits
	return v
}

func (x *extractor) putRiskLevel(at uint32) verdict {
	s, v := x.scalar(at)
	if v != fits {
		return v
	}
	level := 0
	if of := x.mapping.levelOf; of == nil {
		level, v = x.countedLevel(at, s, x.guessing)
	} else if level = of[vocabulary.Fold(string(s))]; level == 0 {
		return unfit
	}
	if v == fits {
		x.dst = strconv.AppendInt(x.dst, int64(level), 10)
	}
	return v
}

func (x *extractor) putTime(at uint32) verdict { return x.time(at, 0) }

// putEnd writes the end of a period. A date without a time includes that day.
func (x *extractor) putEnd(at uint32) verdict { return x.time(at, 24*time.Hour-time.Second) }

func (x *extractor) time(at uint32, wholeDayAdds time.Duration) verdict {
	s, v := x.scalar(at)
	if v != fits {
		return v
	}
	t, wholeDay, ok := parseDate(s)
	if x.by != nil && x.by.order > untold {
		if t, ok = dateOf(string(s), x.by.order); ok {
			wholeDay = t.Truncate(24 * time.Hour).Equal(t)
		}
	}
	if ok && !isUsual(t) {
		return absent // what systems write for none
	}
	if !ok {
		t, ok = x.dateInOrder(s)
		wholeDay = ok
	}
	if !ok {
		return unfit
	}
	if wholeDay {
		t = t.Add(wholeDayAdds)
	}
	x.dst = appendTime(x.dst, t)
	return fits
}

func (x *extractor) putPoint(at uint32) verdict {
	var p point
	var v verdict
	if x.lon != none {
		p, v = x.degrees(at, x.lon)
	} else if x.by != nil && x.by.pairs != byValue {
		p, v = x.pairAt(at, x.by.pairs)
	} else {
		p, v = x.point(at)
	}
	return x.writePoint(p, v)
}

func (x *extractor) writePoint(p point, v verdict) verdict {
	if v == fits && p == (point{}) {
		return absent // what systems write for none
	}
	if v == fits {
		x.subject.at = p // that of a place in the report until location is written
		x.dst = appendPoint(x.dst, p)
	}
	return v
}

// pairAt reads two numbers, in a text or a list, in an order that is known.
func (x *extractor) pairAt(at uint32, order pairOrder) (point, verdict) {
	var first, second float64
	var ok bool
	switch x.tree.nodes[at].kind {
	case '"':
		first, second, ok = twoIn(string(x.tree.text(at)))
	case '[':
		a := x.tree.nodes[at].first
		if a == none || x.tree.nodes[a].next == none {
			return point{}, absent
		}
		var p point
		p, ok = parsePoint(x.tree.raw(a), x.tree.raw(x.tree.nodes[a].next))
		first, second = p.lat, p.lon
	default:
		return point{}, absent
	}
	if !ok {
		return point{}, unfit
	}
	p := point{first, second}
	if order == lonFirst {
		p = point{second, first}
	}
	return p, p.verdict()
}

package mappings

import (
	"strconv"
	"time"
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
	level, v := x.countedLevel(at, s, x.guessing)
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
	} else {
		p, v = x.point(at)
	}
	if v == fits {
		x.subject.at = p // that of a place in the report until location is written
		x.dst = appendPoint(x.dst, p)
	}
	return v
}

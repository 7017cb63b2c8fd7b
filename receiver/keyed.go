package receiver

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// keyed is a member of an object whose names are data.
type keyed struct {
	group, key string // group is empty unless the object is in another one of its kind
	object     []byte
}

// listOf returns the list of the records that stand in an object by their ids, codes or the like, as in
// {"cities": {"130": {…}, "131": {…}}}, or in several of them, by country or so; nil if they are no
// records. A record that does not say itself what it is called there gets that as its member id, or
// group.
func (o opener) listOf(name string, raw []byte) []byte {
	if o.put || o.guess == nil || jsonscan.FirstByte(raw) != '{' {
		return nil
	}
	all := keyedIn(raw, "")
	if groups := jsonscan.Members(raw); all == nil && len(groups) > 1 {
		for _, m := range groups {
			some := keyedIn(m.Value, m.Name)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
	}
	if len(all) < 2 || !o.words.isOfKind(name) && len(all) < manyRecords {
		return nil
	}
	counted := isCounted(all)
	var ids, keys []string
	first := jsonscan.Members(all[0].object)
	for _, k := range all {
		members := jsonscan.Members(k.object)
		if !isAlike(first, members) {
			return nil
		}
		if o.words.isOfKind(k.key) && o.words.meansRecords(k.key) {
			return nil // a part of one record
		}
		if id := string(o.ownID(record{members: members})); id != "" {
			ids = append(ids, id)
		}
		if looksLikeID(k.key) || report.CodeOf(k.key) == k.key && k.key != "" {
			keys = append(keys, k.key)
		}
	}
	switch {
	case len(ids) == len(all) && isDistinct(ids):
	case counted:
	case len(ids) == 0 && 2*len(keys) > len(all) && areAlike(all):
	default:
		return nil
	}
	list := []byte{'['}
	for i, k := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = k.appendTo(list, len(ids) == 0 && !counted)
	}
	if list = append(list, ']'); !o.words.isOfKind(name) && !isRich(list) {
		return nil
	}
	return list
}

// areAlike reports whether the names of members are distinct and, if not all look like ids by themselves,
// as long as each other.
func areAlike(all []keyed) bool {
	names, odd, sizes := make([]string, len(all)), false, map[int]bool{}
	for i, k := range all {
		names[i] = k.key
		sizes[len(k.key)] = true
		odd = odd || !looksLikeID(k.key) && report.CodeOf(k.key) != k.key
	}
	return isDistinct(names) && (!odd || len(sizes) == 1)
}

// isCounted reports whether the names of members are positions: numbers that rise from the first ones, few
// of which are missing. Some programs write a list so from which something was removed.
func isCounted(all []keyed) bool {
	const firsts = 10
	last := -1
	for i, k := range all {
		n, err := strconv.Atoi(k.key)
		if err != nil || n <= last || k.key != strconv.Itoa(n) || n > 3*i+firsts {
			return false
		}
		last = n
	}
	return true
}

// keyedIn returns the members of an object if all are objects and no two have one name.
func keyedIn(raw []byte, group string) (all []keyed) {
	if jsonscan.FirstByte(raw) != '{' {
		return nil
	}
	for _, m := range jsonscan.Members(raw) {
		if !jsonscan.HasMembers(m.Value) || jsonscan.FirstByte(m.Value) != '{' {
			return nil
		}
		scalar := false
		for _, of := range jsonscan.Members(m.Value) {
			c := jsonscan.FirstByte(of.Value)
			scalar = scalar || c != '{' && c != '['
		}
		if !scalar { // an object of objects is a group
			return nil
		}
		all = append(all, keyed{group, m.Name, m.Value})
	}
	return all
}

// appendTo appends the record, with what it is called where it does not say so.
func (k keyed) appendTo(list []byte, named bool) []byte {
	object := jsonscan.TrimSpace(k.object)
	list = append(list, object[:len(object)-1]...)
	add := func(name, value string) {
		list = appendName(append(list, ','), name)
		if quoted, err := jsontext.AppendQuote(list, value); err == nil {
			list = quoted
		} else {
			list = append(list, `""`...)
		}
	}
	if named {
		add("id", k.key)
	}
	if quoted, err := jsontext.AppendQuote(nil, k.group); k.group != "" && err == nil && !bytes.Contains(object, quoted) && jsonscan.Value(jsonscan.Members(object), "group") == nil {
		add("group", k.group)
	}
	return append(list, '}')
}

func isDistinct(all []string) bool {
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	for _, s := range all {
		h := maphash.String(seed, s)
		if seen[h] {
			return false
		}
		seen[h] = true
	}
	return true
}

// isAlike reports whether one object has most of the members of another one.
func isAlike(a, b []jsonscan.Member) bool {
	same := sameNames(a, b)
	return 2*same > min(len(b), maxNamesRead) && 2*same > min(len(a), maxNamesRead)
}

// sameNames returns how many of the first members of b are among those of a.
func sameNames(a, b []jsonscan.Member) (same int) {
	a, b = a[:min(len(a), maxNamesRead)], b[:min(len(b), maxNamesRead)]
	for _, m := range b {
		if jsonscan.Value(a, m.Name) != nil {
			same++
		}
	}
	return same
}

// richRecord is the number of values from which on an object is more than a part of a report.
const richRecord = 12

// isRich reports whether the objects of a list have as many values as records do, on average.
func isRich(list []byte) bool {
	n, all := 0, 0
	for element := range jsonscan.Elements(list) {
		if all++; all > maxNamesRead {
			break
		}
		n += valuesIn(element, maxLikelyDepth)
	}
	return n >= richRecord*all
}

// valuesIn counts the scalars in an object.
func valuesIn(raw []byte, depth int) (n int) {
	for _, m := range jsonscan.Members(raw) {
		switch jsonscan.FirstByte(m.Value) {
		case '{':
			if depth > 1 {
				n += valuesIn(m.Value, depth-1)
			}
		default:
			n++
		}
	}
	return n
}

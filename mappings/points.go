package mappings

import (
	"bytes"
	"math"
	"strconv"
)

// point is a place on earth in degrees.
type point struct{ lat, lon float64 }

// verdict returns unfit if there is no such place on earth.
func (p point) verdict() verdict {
	if p.lat >= -90 && p.lat <= 90 && p.lon >= -180 && p.lon <= 180 {
		return fits
	}
	return unfit
}

// point reads a place in any form that feeds give it: an object with latitude and
// longitude, a GeoJSON geometry or feature, the text "lat,lon" or "POINT (lon lat)", or a list of two numbers.
// Other objects and other texts say nothing about a place.
func (x *extractor) point(at uint32) (point, verdict) {
	if x.tree.empty(at) {
		return point{}, absent
	}
	switch x.tree.nodes[at].kind {
	case '{':
		return x.objectPoint(at)
	case '"':
		text := bytes.TrimSpace(x.tree.text(at))
		if lon, lat, ok := wellKnownText(text); ok {
			p, ok := parsePoint(lat, lon)
			if !ok {
				return point{}, unfit
			}
			return p, p.verdict()
		}
		lat, lon, two := bytes.Cut(text, []byte(","))
		if p, ok := parsePoint(lat, lon); ok && two {
			if swapped := (point{p.lon, p.lat}); x.inCountry(swapped) && !x.inCountry(p) {
				return swapped, fits
			}
			return p, p.verdict()
		}
		return point{}, absent // the name of a place
	case '[':
		return x.twoNumbers(at)
	}
	return point{}, unfit
}

// wellKnownText cuts a text such as POINT (4.85 45.75), as geographic databases write it.
func wellKnownText(s []byte) (lon, lat []byte, ok bool) {
	const point = "POINT"
	if len(s) < len(point) || !bytes.EqualFold(s[:len(point)], []byte(point)) {
		return nil, nil, false
	}
	s = bytes.TrimSpace(s[len(point):])
	if !bytes.HasPrefix(s, []byte("(")) || !bytes.HasSuffix(s, []byte(")")) {
		return nil, nil, false
	}
	numbers := bytes.Fields(s[1 : len(s)-1])
	if len(numbers) < 2 {
		return nil, nil, false
	}
	return numbers[0], numbers[1], true
}

// twoNumbers reads a latitude and a longitude in either order. A name such as latLng says
// which is first.
func (x *extractor) twoNumbers(at uint32) (point, verdict) {
	first := x.tree.nodes[at].first
	if first == none || x.tree.nodes[first].next == none || x.tree.nodes[first].kind == '[' || x.tree.nodes[first].kind == '{' {
		return point{}, container
	}
	second := x.tree.nodes[first].next
	if third := x.tree.nodes[second].next; third != none && x.tree.nodes[third].next != none {
		return point{}, unfit // more than an altitude after them
	}
	p, v := x.degrees(first, second)
	if v == absent {
		return p, v
	}
	swapped, w := x.degrees(second, first)
	if v != fits && w != fits {
		return p, unfit
	}
	switch name := x.tree.named(at); {
	case bytes.HasPrefix(name, []byte("latl")) || bytes.HasPrefix(name, []byte("latitudel")):
		return p, v
	case bytes.HasPrefix(name, []byte("lonlat")) || bytes.HasPrefix(name, []byte("lnglat")) || bytes.HasPrefix(name, []byte("longitudel")):
		return swapped, w
	}
	if v != fits {
		p = point{swapped.lon, swapped.lat}
	}
	return x.inOrder(p.lat, p.lon)
}

func (x *extractor) objectPoint(at uint32) (point, verdict) {
	lat := x.anyMember(at, "lat", "latitude")
	lon := x.anyMember(at, "lon", "lng", "long", "longitude")
	if lat != none && lon != none {
		return x.degrees(lat, lon)
	}
	if inner := x.anyMember(at, "geometry", "geometries", "features"); inner != none {
		if x.tree.nodes[inner].kind == '[' {
			inner = x.tree.nodes[inner].first
		}
		if inner == none || x.tree.empty(inner) {
			return point{}, absent
		}
		return x.objectPoint(inner)
	}
	coordinates := x.anyMember(at, "coordinates")
	if coordinates == none || x.tree.nodes[coordinates].kind != '[' {
		return point{}, absent
	}
	if first := x.tree.nodes[coordinates].first; first != none && x.tree.nodes[first].kind != '[' && x.anyMember(at, "type") == none {
		return x.twoNumbers(coordinates) // it does not say that it is GeoJSON
	}
	return x.geometryPoint(coordinates)
}

func (x *extractor) anyMember(of uint32, names ...string) uint32 {
	for _, name := range names {
		if at := x.tree.member(of, name); at != none {
			return at
		}
	}
	return none
}

func parsePoint(lat, lon []byte) (p point, ok bool) {
	a, errA := strconv.ParseFloat(string(bytes.TrimSpace(lat)), 64)
	o, errO := strconv.ParseFloat(string(bytes.TrimSpace(lon)), 64)
	return point{a, o}, errA == nil && errO == nil
}

// degrees reads a latitude and a longitude that are numbers or strings.
func (x *extractor) degrees(lat, lon uint32) (point, verdict) {
	latText, latIs := x.scalar(lat)
	lonText, lonIs := x.scalar(lon)
	if latIs == absent || lonIs == absent {
		return point{}, absent
	}
	p, ok := parsePoint(latText, lonText)
	if !ok {
		var a, b bool
		p.lat, a = degreesOf(string(latText))
		p.lon, b = degreesOf(string(lonText))
		ok = a && b
	}
	if latIs != fits || lonIs != fits || !ok {
		return point{}, unfit
	}
	return p, p.verdict()
}

// geometryPoint returns the one point of GeoJSON coordinates, or the middle of
// their first ring or line.
func (x *extractor) geometryPoint(at uint32) (point, verdict) {
	for {
		first := x.tree.nodes[at].first
		if first == none {
			return point{}, absent
		}
		if x.tree.nodes[first].kind != '[' {
			return x.position(at)
		}
		inner := x.tree.nodes[first].first
		if inner != none && x.tree.nodes[inner].kind != '[' {
			return x.middle(first)
		}
		at = first
	}
}

// position reads [longitude, latitude], with any altitude after them.
func (x *extractor) position(at uint32) (point, verdict) {
	if x.tree.nodes[at].kind != '[' {
		return point{}, unfit
	}
	lon := x.tree.nodes[at].first
	if lon == none || x.tree.nodes[lon].next == none {
		return point{}, unfit
	}
	return x.degrees(x.tree.nodes[lon].next, lon)
}

// middle returns the centroid of the ring that starts with the position first, or the mean
// of its corners if it encloses nothing. A ring may cross the date line: corners count from
// the first one, the short way round.
func (x *extractor) middle(first uint32) (point, verdict) {
	origin, v := x.position(first)
	if v != fits {
		return point{}, v
	}
	var area, lat, lon, sumLat, sumLon, n float64
	var last point
	for at := first; at != none; at = x.tree.nodes[at].next {
		p, v := x.position(at)
		if v != fits {
			return point{}, v
		}
		p = point{p.lat - origin.lat, math.Remainder(p.lon-origin.lon, 360)}
		cross := last.lon*p.lat - p.lon*last.lat
		area += cross
		lat += (last.lat + p.lat) * cross
		lon += (last.lon + p.lon) * cross
		if at == first || p != (point{}) { // a ring repeats its first corner
			sumLat, sumLon, n = sumLat+p.lat, sumLon+p.lon, n+1
		}
		last = p
	}
	centre := point{sumLat / n, sumLon / n}
	if math.Abs(area) > 1e-9 {
		centre = point{lat / (3 * area), lon / (3 * area)}
	}
	centre = point{origin.lat + centre.lat, math.Remainder(origin.lon+centre.lon, 360)}
	centre = point{round(centre.lat), round(centre.lon)}
	if centre.verdict() != fits {
		return origin, fits // a ring that crosses itself may have its centroid anywhere
	}
	return centre, fits
}

// round keeps about a centimetre.
func round(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }

func appendPoint(dst []byte, p point) []byte {
	dst = append(dst, `{"lat":`...)
	dst = strconv.AppendFloat(dst, p.lat, 'g', -1, 64)
	dst = append(dst, `,"lon":`...)
	dst = strconv.AppendFloat(dst, p.lon, 'g', -1, 64)
	return append(dst, '}')
}

package admin

import (
	"fmt"
	"math"

	"riskdex/search"
)

// spot is a point on a map, with the number by which the list beside the map names it.
type spot struct {
	At    search.Point
	Label string
	Title string
	Risk  int // 0 if unknown

	X, Y float64 // in the map
}

// chart is a map. Its unit is a tenth of a degree of latitude, as in page/land.svg, and it is drawn so
// that its middle has the right proportions.
type chart struct {
	Left, Top, Width, Height float64
	Squeeze                  float64 // of longitudes
	Land                     bool    // the map is so wide that the coastlines are right
	Spots                    []spot
	X, Y, Ring               float64 // the circle that was searched; Ring is 0 if there is none
	Scale                    float64 // the length of the bar; 0 without one
	ScaleText                string
}

const (
	mostSpots    = 100
	kilometre    = 10 / 111.2 // in units
	widestMap    = 3600
	leastLand    = 60   // height from which coastlines of 1:110m are right
	closest      = 2    // kilometres that a map shows at least
	asWideAsHigh = 2    // the proportion of every map
	spotApart    = 0.02 // of the width: nearer spots share a mark
)

// draw makes a map of spots that is at least so many units wide; nil if there are none. With a circle,
// all of that is shown.
func draw(spots []spot, within *search.Near, least float64) *chart {
	spots = spots[:min(len(spots), mostSpots)]
	corners := make([]search.Point, 0, len(spots)+2)
	for _, s := range spots {
		corners = append(corners, s.At)
	}
	c := &chart{Squeeze: 1}
	if within != nil && within.Kilometres <= 2000 {
		c.Ring = within.Kilometres * kilometre
		at, wide := search.Point{Latitude: within.Latitude, Longitude: within.Longitude}, c.Ring/10/max(math.Cos(within.Latitude*math.Pi/180), 0.1)
		corners = append(corners, search.Point{Latitude: at.Latitude - c.Ring/10, Longitude: at.Longitude - wide}, search.Point{Latitude: at.Latitude + c.Ring/10, Longitude: at.Longitude + wide})
	}
	if len(corners) == 0 {
		return nil
	}
	south, north, west, east := 90.0, -90.0, 180.0, -180.0
	for _, p := range corners {
		south, north, west, east = min(south, p.Latitude), max(north, p.Latitude), min(west, p.Longitude), max(east, p.Longitude)
	}
	c.Squeeze = max(math.Cos((south+north)/2*math.Pi/180), 0.1)
	wide, high := (east-west)*10*c.Squeeze, (north-south)*10
	c.Width = max(1.2*wide, 1.3*high*asWideAsHigh, least)
	if c.Width > widestMap/2 {
		c.Width, c.Squeeze, south, north, west, east = widestMap, 1, -90, 90, -180, 180
	}
	c.Height = c.Width / asWideAsHigh
	c.Left, c.Top = (west+east)*5*c.Squeeze-c.Width/2, -(south+north)*5-c.Height/2
	c.Land = c.Height >= leastLand
	if within != nil {
		c.X, c.Y = c.place(search.Point{Latitude: within.Latitude, Longitude: within.Longitude})
	}
	c.mark(spots)
	if !c.Land {
		c.bar()
	}
	return c
}

func (c *chart) place(p search.Point) (x, y float64) {
	return p.Longitude * 10 * c.Squeeze, -p.Latitude * 10
}

// mark adds the spots. Those too near each other share a mark, with the higher risk.
func (c *chart) mark(spots []spot) {
next:
	for _, s := range spots {
		s.X, s.Y = c.place(s.At)
		for i, other := range c.Spots {
			if math.Hypot(s.X-other.X, s.Y-other.Y) < spotApart*c.Width {
				c.Spots[i].Label += ", " + s.Label
				c.Spots[i].Title += ", " + s.Title
				c.Spots[i].Risk = max(s.Risk, other.Risk)
				continue next
			}
		}
		c.Spots = append(c.Spots, s)
	}
}

// bar adds a bar of a round length, at most a quarter of the width.
func (c *chart) bar() {
	most := c.Width / 4 / kilometre
	length := math.Pow(10, math.Floor(math.Log10(most)))
	for _, times := range []float64{5, 2} {
		if times*length <= most {
			length *= times
			break
		}
	}
	c.Scale, c.ScaleText = length*kilometre, fmt.Sprintf("%g km", length)
}

// Of returns a share of the width, for what is as large on every map.
func (c *chart) Of(share float64) float64 { return share * c.Width }

// Right and Bottom are within the map, with room to its edge.
func (c *chart) Right() float64  { return c.Left + 0.98*c.Width }
func (c *chart) Bottom() float64 { return c.Top + 0.95*c.Height }

// Map shows where the hits are. Its numbers are those of the list.
func (t *trial) Map() *chart {
	var spots []spot
	for i, h := range t.Found.Hits {
		place, _ := h.Nearest(t.Near)
		for _, p := range append([]search.Place{{Location: h.Location}}, h.Places...) {
			if place == nil && p.Location != nil {
				place = &p
			}
		}
		if place != nil {
			spots = append(spots, spot{At: *place.Location, Label: fmt.Sprint(t.Position(i)), Title: h.Title, Risk: h.RiskLevel})
		}
	}
	return draw(spots, t.Near, 400)
}

// Maps shows where in the world a document is, and its places close up if they are near each other.
func (x About) Maps() (all []*chart) {
	var spots []spot
	for i, p := range x.Places {
		if p.Location != nil {
			spots = append(spots, spot{At: *p.Location, Label: fmt.Sprint(i + 1), Title: p.Name})
		}
	}
	if near := draw(spots, nil, closest*kilometre); near != nil {
		all = append(all, near)
		if near.Land {
			return all
		}
	}
	at := x.Location
	if at == nil && len(spots) > 0 {
		at = &spots[0].At
	}
	if at != nil {
		all = append([]*chart{draw([]spot{{At: *at}}, nil, 800)}, all...)
	}
	return all
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"riskdex/mappings"
	"riskdex/report"
)

// defaultWithin is the default of --within, in kilometres.
const defaultWithin = 50

// body returns the search request for the words and flags.
func (c *searchCommand) body(set *mappings.Set) ([]byte, error) {
	options := mappings.SearchOptions{Countries: c.Country, RiskLevel: c.RiskLevel, Threats: c.Threat, NearestFirst: c.Nearest, Size: c.Size, From: c.From}
	for _, k := range c.Kind {
		options.Kinds = append(options.Kinds, report.Kind(k)) // kong has checked it
	}
	var err error
	if options.Near, err = parseNear(c.Near, c.Within); err != nil {
		return nil, err
	}
	if options.Valid, err = parsePeriod(c.ValidAt); err != nil {
		return nil, err
	}
	words := strings.Join(c.Words, " ")
	if c.Complete {
		return set.CompleteBody(words, options)
	}
	return set.SearchBody(words, options)
}

// parseNear parses a latitude and a longitude. It returns nil if point is empty.
func parseNear(point string, within float64) (*mappings.Near, error) {
	if point == "" {
		if within != 0 {
			return nil, errors.New("--within needs --near: give the point that it is around")
		}
		return nil, nil
	}
	latitude, longitude, _ := strings.Cut(point, ",")
	lat, err := strconv.ParseFloat(strings.TrimSpace(latitude), 64)
	lon, err2 := strconv.ParseFloat(strings.TrimSpace(longitude), 64)
	if err := cmp.Or(err, err2); err != nil {
		return nil, fmt.Errorf("--near %q is not a point: give a latitude and a longitude in degrees, such as 51.5,-0.12", point)
	}
	return &mappings.Near{Latitude: lat, Longitude: lon, Kilometres: cmp.Or(within, defaultWithin)}, nil
}

// parsePeriod parses a day, which means all of it in UTC, or a time. It returns nil if date is
// empty.
func parsePeriod(date string) (*mappings.Period, error) {
	if date == "" {
		return nil, nil
	}
	if day, err := time.Parse(time.DateOnly, date); err == nil {
		return &mappings.Period{Start: day, End: day.AddDate(0, 0, 1).Add(-time.Millisecond)}, nil
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return nil, fmt.Errorf("--valid-at %q is not a date: give a day such as 2026-07-30, or a time such as 2026-07-30T18:00:00Z", date)
	}
	return &mappings.Period{Start: at, End: at}, nil
}

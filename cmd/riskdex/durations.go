package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"riskdex/admin"
)

// retention is how long something is kept, written like 90d or like 36h.
type retention time.Duration

// shortestRetention is the shortest retention accepted. It keeps tombstones for longer than
// a request to Elasticsearch may linger (index.gc_deletes is an hour).
const shortestRetention = 24 * time.Hour

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *retention) UnmarshalText(text []byte) error {
	d, err := parseDuration(string(text))
	if err != nil {
		return err
	}
	if d < shortestRetention {
		return fmt.Errorf("%q is too short: at least a day, 1d", text)
	}
	*s = retention(d)
	return nil
}

// historyRetention is how long history is kept. The zero value is for what is not set, and a
// negative one for 0.
type historyRetention time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *historyRetention) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*h = -1
		return nil
	}
	return (*retention)(h).UnmarshalText(text)
}

// interval is how often something is to happen, written like a retention.
type interval time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *interval) UnmarshalText(text []byte) error {
	d, err := parseDuration(string(text))
	if err != nil {
		return err
	}
	if d < time.Minute {
		return fmt.Errorf("%q is too short: at least a minute, 1m", text)
	}
	*i = interval(d)
	return nil
}

// expectation is how often deliveries are expected, written like 24h, or like cities=24h,acme=1h.
type expectation struct{ expected admin.Expected }

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *expectation) UnmarshalText(text []byte) error {
	e.expected = admin.Expected{}
	for part := range strings.SplitSeq(string(text), ",") {
		name, every, named := strings.Cut(part, "=")
		if !named {
			name, every = "", part
		}
		if _, twice := e.expected[name]; twice || named && name == "" {
			return fmt.Errorf("%q: write it like 24h, or like cities=24h,advisories=7d, each kind or sender once", text)
		}
		var i interval
		if err := i.UnmarshalText([]byte(every)); err != nil {
			return err
		}
		e.expected[name] = time.Duration(i)
	}
	return nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * 24 * time.Hour // #nosec G115 -- n has 16 bits
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write it like 90d or 36h", text)
	}
	return d, nil
}

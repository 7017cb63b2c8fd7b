package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"riskdex/internal/sanitize"
)

// checkLog checks that every line of a log is one that riskdex wrote, whatever attackers
// put into it, and that none controls the terminal that shows it.
func checkLog(t *testing.T, format, log string) {
	t.Helper()
	read := readText
	if format == "json" {
		read = readJSON
	}
	if !strings.Contains(log, "riskdex serves") || !strings.HasSuffix(log, "\n") {
		t.Errorf("the log does not begin and end as ours does: %.200q", log)
	}
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		said, err := read(line)
		if err != nil {
			t.Errorf("%v in %q", err, line)
			continue
		}
		if _, err := time.Parse(time.RFC3339Nano, said["time"]); err != nil || said["level"] == "" || said["msg"] == "" {
			t.Errorf("the log has a line that riskdex did not write: %q", line)
		}
		if said["msg"] == "forged" || said["forged"] != "" {
			t.Errorf("a line is forged: %q", line)
		}
		for _, r := range line {
			if sanitize.Unsafe(r) {
				t.Errorf("%U is in %q", r, line)
			}
		}
	}
}

var textPair = regexp.MustCompile(`^([a-z_.]+)=("(?:[^"\\]|\\.)*"|[^ "=]*)(?: |$)`)

// readText parses a line of names and values. A duplicate name is an error.
func readText(line string) (map[string]string, error) {
	said := map[string]string{}
	for line != "" {
		m := textPair.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("at %.60q there is no name with a value", line)
		}
		value := m[2]
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = strconv.Unquote(value); err != nil {
				return nil, err
			}
		}
		if _, twice := said[m[1]]; twice {
			return nil, fmt.Errorf("%s comes twice", m[1])
		}
		said[m[1]] = value
		line = line[len(m[0]):]
	}
	return said, nil
}

func readJSON(line string) (map[string]string, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		return nil, err
	}
	said := map[string]string{}
	for name, value := range all {
		said[name] = fmt.Sprint(value)
	}
	return said, nil
}

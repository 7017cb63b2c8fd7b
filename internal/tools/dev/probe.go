package main

import (
	"bufio"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeout bounds one request to the admin listener.
const timeout = 10 * time.Second

// get returns the status of the admin listener's answer, or 0 without an answer.
func (r *stack) get(path string) int {
	res, err := (&http.Client{Timeout: timeout}).Get("http://" + r.admin + path)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// metric returns the sum of the series of a metric that have all of the labels, and whether
// there are any.
func (r *stack) metric(name string, labels ...string) (sum float64, known bool) {
	res, err := (&http.Client{Timeout: timeout}).Get("http://" + r.admin + "/metrics")
	if err != nil {
		return 0, false
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if base, _, _ := strings.Cut(series, "{"); base != name {
			continue
		}
		if slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(series, label) }) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, false
		}
		sum, known = sum+v, true
	}
	return sum, known && lines.Err() == nil
}

package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// askTimeout bounds the time of one answer.
const askTimeout = 10 * time.Second

// Ask calls the server's HTTP API, such as "/api/v1/query", and decodes the data of the answer
// into data.
func (s *Server) Ask(ctx context.Context, path string, params url.Values, data any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path+"?"+params.Encode(), nil)
	if err != nil {
		return fmt.Errorf("ask Prometheus for %s: %w", path, err)
	}
	req.Close = true // an idle connection would keep the port of a stopped server in use
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask Prometheus for %s: %w", path, err)
	}
	defer res.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return fmt.Errorf("ask Prometheus for %s: status %d: %w", path, res.StatusCode, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("ask Prometheus for %s: status %d: %s", path, res.StatusCode, answer.Error)
	}
	return nil
}

// Scraped returns nil if the target has been scraped since the start and the last scrape
// succeeded, and otherwise what is wrong.
func (s *Server) Scraped(ctx context.Context) error {
	var data struct {
		ActiveTargets []struct {
			DiscoveredLabels  map[string]string
			Health, LastError string
		}
	}
	if err := s.Ask(ctx, "/api/v1/targets", url.Values{"state": {"active"}}, &data); err != nil {
		return err
	}
	for _, t := range data.ActiveTargets {
		switch {
		case t.DiscoveredLabels["__address__"] != s.target:
		case t.Health == "up":
			return nil
		case t.LastError != "":
			return fmt.Errorf("scrape %s: %s", s.target, t.LastError)
		default:
			return fmt.Errorf("%s has not been scraped yet", s.target)
		}
	}
	return fmt.Errorf("%s is not a target", s.target)
}

// Rules returns how many rules are loaded. It fails if there are none, or if one cannot be
// evaluated.
func (s *Server) Rules(ctx context.Context) (count int, err error) {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	if err := s.Ask(ctx, "/api/v1/rules", nil, &data); err != nil {
		return 0, err
	}
	for _, group := range data.Groups {
		for _, rule := range group.Rules {
			count++
			if rule.Health == "err" {
				return count, fmt.Errorf("evaluate rule %s: %s", rule.Name, rule.LastError)
			}
		}
	}
	if count == 0 {
		return 0, errors.New("no rule is loaded")
	}
	return count, nil
}

// ready fails unless this server can be queried. It recognizes another server on the same
// port by its configuration.
func (s *Server) ready(ctx context.Context) error {
	flags := map[string]string{}
	if err := s.Ask(ctx, "/api/v1/status/flags", nil, &flags); err != nil {
		return err
	}
	if got := flags["config.file"]; got != configFile(s.home) {
		return fmt.Errorf("a server with the configuration %s answers", got)
	}
	// Queries are refused until the samples have been read.
	return s.Ask(ctx, "/api/v1/query", url.Values{"query": {"1"}}, new(any))
}

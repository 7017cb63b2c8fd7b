package elastic

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
)

// Rule returns an error unless an answer says that what was asked was done. A status of 200 alone
// says nothing: a proxy may send it, a node that lacks shards, or an index that was not meant.
// Every request that is sent with [Client.Ask] names its rule.
type Rule func(answer []byte) error

// UnclearError is about an answer that does not keep the rule of its request: whether what was
// asked was done is not known.
type UnclearError struct{ Lacks error }

func (e *UnclearError) Error() string {
	return "the answer of Elasticsearch does not say that it was done: " + e.Lacks.Error()
}

func (e *UnclearError) Unwrap() error { return e.Lacks }

// keep applies a rule. What the answer itself says of a failure stays a *ResponseError.
func (r Rule) keep(answer []byte) error {
	err := r(answer)
	if _, said := errors.AsType[*ResponseError](err); err == nil || said {
		return err
	}
	return &UnclearError{err}
}

// rule returns a rule that decodes an answer into a T and checks that.
func rule[T any](check func(T) error) Rule {
	return func(answer []byte) error {
		var body T
		if err := json.Unmarshal(answer, &body); err != nil {
			return fmt.Errorf("unreadable: %w", err)
		}
		return check(body)
	}
}

// Readable is the rule of a request that only asks, and whose answer may have anything in it.
var Readable = rule(func(any) error { return nil })

type acknowledged struct {
	Acknowledged bool   `json:"acknowledged"`
	Errors       bool   `json:"errors"` // of single actions on aliases
	Shards       *bool  `json:"shards_acknowledged"`
	Index        string `json:"index"`
}

func (a acknowledged) check() error {
	if !a.Acknowledged || a.Errors {
		return errors.New("not all of it is acknowledged")
	}
	return nil
}

// Acknowledged is the rule of a request that changes aliases, mappings or templates, or deletes
// an index.
var Acknowledged = rule(acknowledged.check)

// Created is the rule of a request that creates an index.
func Created(index string) Rule {
	return rule(func(a acknowledged) error {
		switch {
		case a.Index != index:
			return fmt.Errorf("about the index %q instead of %q", a.Index, index)
		case a.Shards == nil || !*a.Shards:
			return fmt.Errorf("the shards of %s have not started", index)
		}
		return a.check()
	})
}

// shards counts the shard copies that a request was for, and on how many it succeeded. Those that
// are not assigned are counted in the total only.
type shards struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Failed     int `json:"failed"`
	Failures   []struct {
		Reason ErrorCause `json:"reason"`
	} `json:"failures"`
}

// taken returns an error unless some copies did what was asked, and none failed. If the answer says
// that some failed, the error counts as a 503.
func (s *shards) taken() error {
	switch {
	case s == nil:
		return errors.New("nothing says which shards answered")
	case s.Failed > 0:
		reason := fmt.Sprintf("%d of %d shards failed", s.Failed, s.Total)
		if len(s.Failures) > 0 {
			reason += ": " + s.Failures[0].Reason.Innermost().Reason
		}
		return &ResponseError{Status: http.StatusServiceUnavailable, Type: "shards_failed", Reason: reason}
	case s.Successful < 1:
		return fmt.Errorf("none of %d shards answered", s.Total)
	}
	return nil
}

// whole returns an error unless every shard answered.
func (s *shards) whole() error {
	if err := s.taken(); err != nil {
		return err
	}
	if s.Successful != s.Total {
		return fmt.Errorf("only %d of %d shards answered", s.Successful, s.Total)
	}
	return nil
}

// Refreshed is the rule of a refresh.
var Refreshed = rule(func(a struct {
	Shards *shards `json:"_shards"`
}) error {
	return a.Shards.taken()
})

// Searched is the rule of a search: it saw all of every index.
var Searched = rule(func(a struct {
	Shards   *shards         `json:"_shards"`
	TimedOut *bool           `json:"timed_out"`
	Early    bool            `json:"terminated_early"`
	Hits     *map[string]any `json:"hits"`
}) error {
	switch {
	case a.TimedOut == nil || a.Hits == nil:
		return errors.New("no hits, or nothing that says whether the search came to its end")
	case *a.TimedOut || a.Early:
		return &ResponseError{Status: http.StatusServiceUnavailable, Type: "search_ended_early", Reason: "the search ended before it had seen everything"}
	}
	return a.Shards.whole()
})

// Counted is the rule of a count.
var Counted = rule(func(a struct {
	Shards *shards `json:"_shards"`
	Count  *int    `json:"count"`
}) error {
	if a.Count == nil {
		return errors.New("no count")
	}
	return a.Shards.whole()
})

// Opened is the rule of a request for a point in time.
var Opened = rule(func(a struct {
	Shards *shards `json:"_shards"`
	ID     string  `json:"id"`
}) error {
	if a.ID == "" {
		return errors.New("no point in time")
	}
	return a.Shards.whole()
})

// Closed is the rule of a request that gives a point in time back.
var Closed = rule(func(a struct {
	Succeeded bool `json:"succeeded"`
}) error {
	if !a.Succeeded {
		return errors.New("not successful")
	}
	return nil
})

// Ready is the rule of a request that waits until an index can be searched.
var Ready = rule(func(a struct {
	TimedOut *bool  `json:"timed_out"`
	Status   string `json:"status"`
}) error {
	if a.TimedOut == nil || *a.TimedOut || a.Status != "green" && a.Status != "yellow" {
		return fmt.Errorf("the health is %q", a.Status)
	}
	return nil
})

// Nodes is the rule of a request about every node.
var Nodes = rule(func(a struct {
	Of *struct {
		Total  int `json:"total"`
		Failed int `json:"failed"`
	} `json:"_nodes"`
	Nodes map[string]any `json:"nodes"`
}) error {
	if a.Of == nil || a.Of.Failed > 0 || len(a.Nodes) == 0 || len(a.Nodes) != a.Of.Total {
		return errors.New("not every node has answered")
	}
	return nil
})

// Indices is the rule of a request for the states of indices: each has its identity in it.
var Indices = rule(func(a map[string]struct {
	Settings struct {
		Index struct {
			UUID string `json:"uuid"`
		} `json:"index"`
	} `json:"settings"`
}) error {
	for name, index := range a {
		if index.Settings.Index.UUID == "" {
			return fmt.Errorf("nothing says which index %s is", name)
		}
	}
	return nil
})

// Identified is the rule of a request for the id of the cluster.
var Identified = rule(func(a struct {
	UUID string `json:"cluster_uuid"`
}) error {
	if a.UUID == "" {
		return errors.New("no cluster_uuid")
	}
	return nil
})

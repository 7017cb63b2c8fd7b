package reconcile

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"riskdex/internal/push"
	"riskdex/receiver"
	"riskdex/report"
)

// FromRequests returns what the publisher has of a kind once the requests were carried out in
// their order, or nil if none of them delivers anything of it.
func FromRequests(requests []push.Request, kind report.Kind, payloads *receiver.Reader) (*List, error) {
	l, any := newList(kind), false
	l.Records = true
	for _, r := range requests {
		collection, segment, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		if collection != string(kind) {
			continue
		}
		any = any || r.Method != http.MethodDelete
		if err := l.carryOut(r, segment, payloads); err != nil {
			return nil, fmt.Errorf("%s: %w", r.What, err)
		}
	}
	if !any {
		return nil, nil
	}
	return l, l.check()
}

func (l *List) carryOut(r push.Request, segment string, payloads *receiver.Reader) error {
	if r.Method == http.MethodPost {
		certain := l.Doubt == ""
		err := l.addRecords(payloads, r.Body, 1)
		if certain && l.Doubt != "" {
			l.Doubt = r.What + ": " + l.Doubt
		}
		return err
	}
	name, err := url.PathUnescape(segment)
	if err != nil {
		return err
	}
	id, err := report.ParseID(name)
	if err != nil {
		return err
	}
	if r.Method == http.MethodDelete {
		l.dropNamed(id)
		return nil
	}
	c, err := payloads.Record(report.Key{Kind: l.Kind, ID: id}, r.Body)
	if err == nil {
		l.addChange(c)
	}
	return err
}

// dropNamed takes out what a DELETE of a name deletes.
func (l *List) dropNamed(name report.ID) {
	code := report.CodeOf(string(name))
	if i, known := l.byName[string(name)]; !known || !l.entries[i].exact {
		if i, ok := l.statesCode(name); ok {
			delete(l.stated, code)
			l.drop(report.ID(l.entries[i].name))
		}
		if i, ok := l.byCode[code]; ok {
			l.drop(report.ID(l.entries[i].name))
		}
	}
	l.drop(name)
}

// drop takes an entry out.
func (l *List) drop(name report.ID) {
	if i, ok := l.byName[string(name)]; ok {
		l.entries[i].also = true // it is not missing
		delete(l.byName, string(name))
		delete(l.byCode, report.CodeOf(string(name)))
	}
}

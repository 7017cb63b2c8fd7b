package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"riskdex/admin"
	"riskdex/report"
)

// Document implements admin.Index.
func (x index) Document(ctx context.Context, c report.Change) (admin.Indexed, error) {
	d := admin.Indexed{Index: x.indices.Alias(c.Kind)}
	shown, source, err := x.client.Shown(ctx, d.Index, c.ID)
	if err != nil {
		return d, err
	}
	written, err := x.client.Versions(ctx, d.Index, []report.ID{c.ID})
	if err != nil {
		return d, err
	}
	d.Version, d.Searchable = written[c.ID].Version, shown.Version
	if len(c.Body) == 0 {
		return d, nil
	}
	document, _, err := x.set.AppendDocument(nil, c)
	if err != nil {
		return d, nil // a dead letter: the journal says why
	}
	if d.Searchable != 0 {
		if d.Differ, err = differing(source, document); err != nil {
			return d, err
		}
	}
	if err := json.Unmarshal(document, &d.About); err != nil {
		return d, fmt.Errorf("read what it is to have: %w", err)
	}
	fields, err := x.set.Explain(c.Kind, c.Body)
	if err != nil {
		return d, err
	}
	for _, f := range fields {
		d.Fields = append(d.Fields, admin.FieldSource{Field: f.Field, Value: beginning(string(f.Value)), Pointer: string(f.Pointer), Guessed: f.Guessed, Reason: f.Reason})
	}
	return d, nil
}

// Shown implements admin.Index.
func (x index) Shown(ctx context.Context, kind report.Kind, ids []report.ID) (map[report.ID]report.Version, error) {
	found, err := x.client.Searchable(ctx, x.indices.Alias(kind), ids)
	versions := make(map[report.ID]report.Version, len(found))
	for id, d := range found {
		if d.Found {
			versions[id] = d.Version
		}
	}
	return versions, err
}

// differing returns the names of the members in which two objects differ, in order.
func differing(one, other []byte) (names []string, err error) {
	a, err := members(one)
	if err != nil {
		return nil, fmt.Errorf("read what the index has: %w", err)
	}
	b, err := members(other)
	if err != nil {
		return nil, fmt.Errorf("read what it is to have: %w", err)
	}
	for name, value := range a {
		if !reflect.DeepEqual(value, b[name]) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, has := a[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// members reads an object. Numbers stay as they are written.
func members(object []byte) (all map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	err = d.Decode(&all)
	return all, err
}

// beginning returns the value of a field, cut after 500 bytes.
func beginning(value string) string {
	const most = 500
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "…"
}

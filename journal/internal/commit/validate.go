package commit

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"riskdex/report"
)

// maxBody is the largest body of one change. It keeps a record well below what
// SQLite can hold.
const maxBody = 512 << 20

// checkDelivery returns why a delivery cannot be taken. It runs before the
// delivery joins others in a transaction, so that it fails alone.
func checkDelivery(d report.Delivery) error {
	for i, c := range d.Changes {
		if err := checkChange(c); err != nil {
			return fmt.Errorf("append change %d of %d (%s %q): %w", i+1, len(d.Changes), c.Kind, c.ID, err)
		}
	}
	return checkReceipt(d.Receipt)
}

// kindOf returns the kind of the first record of a delivery, and so of all that the receiver makes.
func kindOf(d report.Delivery) report.Kind {
	switch {
	case len(d.Changes) > 0:
		return d.Changes[0].Kind
	case len(d.Refusals) > 0:
		return d.Refusals[0].Kind
	}
	return ""
}

func checkReceipt(r *report.Receipt) error {
	switch {
	case r == nil:
	case r.Sender == "" || r.ID == "" || len(r.Digest) == 0:
		return errors.New("append a delivery whose receipt lacks its sender, its id or its digest")
	case len(r.Sender) > report.MaxIDBytes || len(r.ID) > report.MaxIDBytes || !utf8.ValidString(r.Sender+r.ID):
		return fmt.Errorf("append a delivery whose receipt has an id that is not UTF-8 or longer than %d bytes", report.MaxIDBytes)
	}
	return nil
}

func checkChange(c report.Change) error {
	if err := CheckKey(c.Key); err != nil {
		return err
	}
	if c.OwnID != "" {
		if _, err := report.ParseID(string(c.OwnID)); err != nil {
			return fmt.Errorf("its own id: %w", err)
		}
	}
	switch {
	case c.Op != report.Index && c.Op != report.Delete:
		return fmt.Errorf("no operation is called %q", c.Op)
	case c.Op == report.Index && len(c.Body) == 0:
		return errors.New("it has no body")
	case c.Op == report.Delete && len(c.Body) != 0:
		return errors.New("a delete has a body")
	case len(c.Body) > maxBody:
		return fmt.Errorf("its body has %d bytes; at most %d can be kept", len(c.Body), maxBody)
	case report.CodeOf(c.Code) != c.Code:
		return fmt.Errorf("its code %.20q is not three letters in upper case", c.Code)
	case len(c.Trace) > maxTrace:
		return fmt.Errorf("its trace has %d bytes; a traceparent has at most %d", len(c.Trace), maxTrace)
	}
	return nil
}

func checkSettlements(settlements []report.Settlement) error {
	for _, s := range settlements {
		err := CheckKey(s.Key)
		switch {
		case err != nil:
		case s.Version <= 0:
			err = fmt.Errorf("version %d was never given out", s.Version)
		case s.Outcome != report.Retry && !slices.Contains(report.Outcomes(), s.Outcome):
			err = fmt.Errorf("no outcome is called %q", s.Outcome)
		}
		if err != nil {
			return fmt.Errorf("settle %s %q: %w", s.Kind, s.ID, err)
		}
	}
	return nil
}

// CheckKey returns why nothing can have a key.
func CheckKey(k report.Key) error {
	if err := report.CheckKind(k.Kind); err != nil {
		return err
	}
	_, err := report.ParseID(string(k.ID))
	return err
}

// maxTrace is what is kept of a traceparent at most, in bytes. One of version 00
// has 55 (W3C Trace Context, section 3.2).
const maxTrace = 64

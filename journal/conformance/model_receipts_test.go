package conformance

import (
	"context"
	"errors"
	"maps"
	"time"

	"pgregory.net/rapid"

	"riskdex/report"
)

// modelReceipt is a receipt of the model.
type modelReceipt struct {
	report.Receipt
	at time.Time
}

// receipt draws the receipt of a delivery; most have none.
func (m *machine) receipt(r *rapid.T) *report.Receipt {
	if rapid.IntRange(0, 2).Draw(r, "receipt") != 0 {
		return nil
	}
	return receipt(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "delivery"), rapid.SampledFrom([]string{"1", "2"}).Draw(r, "digest"))
}

// repeats delivers what may be a repeat, and reports whether it was refused as one. It
// records the receipt of what is accepted.
func (m *machine) repeats(r *rapid.T, d report.Delivery) bool {
	if d.Receipt == nil {
		return false
	}
	now := m.h.clock.now()
	old, is := m.m.receipts[d.Receipt.ID]
	if oldest := now.Add(-report.ReceiptsFor); !is || old.at.Before(oldest) {
		// A receipt that is too old is gone for good, even if the clock jumps back.
		maps.DeleteFunc(m.m.receipts, func(_ string, old modelReceipt) bool { return old.at.Before(oldest) })
		m.m.receipts[d.Receipt.ID] = modelReceipt{*d.Receipt, now}
		return false
	}
	_, err := m.h.Append(context.Background(), d)
	if string(old.Digest) == string(d.Receipt.Digest) {
		repeated(r, err, string(old.Answer))
	} else if !errors.Is(err, report.ErrIDReused) {
		r.Errorf("another delivery with a known id returned %v, want ErrIDReused", err)
	}
	return true
}

// muchLater is when receipts are about to be forgotten.
func (m *machine) muchLater(r *rapid.T) {
	m.h.clock.move(report.ReceiptsFor / 2)
}

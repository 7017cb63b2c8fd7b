package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/report"
)

// indexesWhenAsked has a document delivered, indexed and searchable each time that Elasticsearch
// is asked, up to a number of times: after the journal was read.
func (d *statusDesk) indexesWhenAsked(times int, method, path, body string) {
	n, has := 0, admin.Indexed{Index: "cities"}
	d.indexed = func(c report.Change) admin.Indexed {
		if n++; n <= times {
			d.deliver(method, path, strings.ReplaceAll(body, "N", fmt.Sprint(n)))
			d.index()
			now, err := d.journal.Document(d.t.Context(), c.Kind, c.ID)
			if err != nil {
				d.t.Error(err)
			}
			has.Version, has.Searchable = now.Version, now.Version
			if now.Op == report.Delete {
				has.Version, has.Searchable = 0, 0
			}
		}
		return has
	}
}

// TestDocumentThatChangesWhileItIsLookedAt is not said to be another journal's or lost.
func TestDocumentThatChangesWhileItIsLookedAt(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/1", `{"id":"1"}`)
	d.index()
	d.indexesWhenAsked(1, "PUT", "/cities/1", `{"id":"1","title":"N"}`)
	if doc := d.document(report.Cities, "1"); doc.State != admin.DocumentSearchable || !doc.Searchable || !strings.Contains(doc.Body, "title") {
		t.Errorf("a document that was indexed meanwhile is %s: %s", doc.State, doc.Says)
	}
	d.indexesWhenAsked(1000, "PUT", "/cities/1", `{"id":"1","title":"N"}`)
	if doc := d.document(report.Cities, "1"); doc.State != admin.DocumentWaiting || !strings.Contains(doc.Says, "changes while it is looked at") {
		t.Errorf("a document that changes all the time is %s: %s", doc.State, doc.Says)
	}
	d.indexesWhenAsked(1, "DELETE", "/cities/1", "")
	if doc := d.document(report.Cities, "1"); doc.State != admin.DocumentDeleted || !doc.Searchable {
		t.Errorf("a document that was deleted meanwhile is %s: %s", doc.State, doc.Says)
	}
}

// TestDeliveryThatIsReplacedWhileItIsLookedAt does not differ.
func TestDeliveryThatIsReplacedWhileItIsLookedAt(t *testing.T) {
	d := openStatusDesk(t)
	name := d.named("PUT", "/cities/1", `{"id":"1"}`)
	d.index()
	replaced := false
	d.shown = func([]report.ID) map[report.ID]report.Version {
		if !replaced {
			replaced = true
			d.deliver("PUT", "/cities/1", `{"id":"1","title":"newer"}`)
			d.index()
		}
		now, err := d.journal.Document(t.Context(), report.Cities, "1")
		if err != nil {
			t.Error(err)
		}
		return map[report.ID]report.Version{"1": now.Version}
	}
	if p := d.delivery(name); len(p.Items) != 1 || p.Items[0].State != admin.DocumentReplaced {
		t.Errorf("a document that was replaced meanwhile is %+v", p.Items)
	}
}

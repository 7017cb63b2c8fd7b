package admin

import (
	"reflect"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/testkit/openapitest"
	"riskdex/report"
)

func TestDescriptionHasEveryCall(t *testing.T) {
	// These interfaces have methods of their own names, so they cannot be embedded directly.
	type letters interface{ DeadLetters }
	type refused interface{ Refusals }
	type records interface{ Records }
	type documents interface{ Documents }
	type histories interface{ Histories }
	type changes interface{ Changes }
	type reader interface{ Reader }
	whole := Parts{
		Documents: struct{ documents }{}, Histories: struct{ histories }{},
		Changes: struct{ changes }{}, Records: struct{ records }{}, Reader: struct{ reader }{}, Reads: NewReadMetrics(prometheus.NewRegistry()),
		Metrics: prometheus.NewRegistry(), DeadLetters: struct{ letters }{}, Refusals: struct{ refused }{}, Receiver: struct{ Receiver }{},
		Rebuilder: struct{ Rebuilder }{}, Verifier: struct{ Verifier }{}, Losses: struct{ Losses }{}, JournalInfo: JournalInfo{Name: "x"}, Status: StatusParts{Journal: struct{ Journal }{}},
	}
	want, got := openapitest.Routes(whole.routes()), openapitest.Read(t, "openapi.yaml").Operations(nil)
	if !slices.Equal(got, want) || len(want) < 25 {
		t.Errorf("openapi.yaml describes\n%q, there are\n%q", got, want)
	}
}

func TestDescriptionHasEveryMember(t *testing.T) {
	schemas := openapitest.Read(t, "openapi.yaml").Components.Schemas
	types := []any{
		Problem{}, readiness{}, DeliveryPage{}, DeliveredDocument{}, DeadLetter{}, Document{}, Entry{}, Indexed{}, FieldSource{}, Replaced{}, Ended{}, Refusal{}, Redelivered{}, report.Rebuild{},
		VerifyEvent{}, report.VerifyProgress{}, report.VerifyFinding{}, report.VerifyReport{},
		Status{}, Following{}, Anew{}, SearchFailure{}, Trouble{}, KindStatus{}, Arrived{}, Sample{}, report.FieldCount{}, Reading{}, ReadShape{}, ReadField{}, LackingField{}, Candidate{}, JournalStatus{}, HistoryStatus{}, Past{}, PastVersion{}, Shown{}, report.Loss{}, JournalInfo{}, BackupEvent{}, report.BackupProgress{}, BackupReport{}, report.Waiting{},
	}
	for _, value := range types {
		name := reflect.TypeOf(value).Name()
		schemas[name].Compare(t, name, reflect.TypeOf(value))
	}
	schemas["DamagedKey"].Compare(t, "DamagedKey", reflect.TypeFor[report.Key]())
	schemas["Delivery"].Compare(t, "Delivery", reflect.TypeFor[report.Answered]())
	schemas["ChangesPage"].Compare(t, "ChangesPage", reflect.TypeFor[ChangesPage]())
	schemas["Page"].Compare(t, "Page", reflect.TypeFor[Page[int]]())
}

func TestDescriptionHasEveryKind(t *testing.T) {
	var want []string
	for _, kind := range report.Kinds() {
		want = append(want, string(kind))
	}
	if got := openapitest.Read(t, "openapi.yaml").Components.Schemas["Kind"].Enum; !slices.Equal(got, want) {
		t.Errorf("openapi.yaml has the kinds %q, there are %q", got, want)
	}
}

func TestDescriptionHasEveryTrouble(t *testing.T) {
	var want []string
	for _, c := range Causes() {
		want = append(want, c.Name)
	}
	if got := openapitest.Read(t, "openapi.yaml").Components.Schemas["Cause"].Enum; !slices.Equal(got, want) {
		t.Errorf("openapi.yaml has the troubles %q, there are %q", got, want)
	}
}

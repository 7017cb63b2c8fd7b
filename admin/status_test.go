package admin_test

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/logsink"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestStatusTellsEveryTrouble causes each trouble and ends it again.
func TestStatusTellsEveryTrouble(t *testing.T) {
	d := openStatusDesk(t)
	// By TestStatusOfAJournalThatCannotBeRead, and in loss_test.go.
	tried := []string{admin.TroubleJournal, admin.TroubleLost}
	shownAs := map[admin.Severity]string{
		admin.Critical: `<div class="state bad"><strong>Critical: something is wrong.`,
		admin.Warning:  `<div class="state warn"><strong>Warning: something needs attention.`,
	}
	for _, c := range []struct {
		what        string
		begin, stop func()
	}{
		{
			admin.TroubleSearch,
			func() { d.set(func() { d.fails = d.now.Add(-admin.SearchBound) }) },
			func() { d.set(func() { d.fails = d.now.Add(-admin.SearchBound + 1) }) }, // the next search may be answered
		},
		{
			admin.TroubleNotFollowing,
			func() {
				d.set(func() {
					d.fails = time.Time{}
					d.follows = &admin.Following{From: "http://other:8081", Failed: d.now.Add(-admin.FollowBound - 1), Error: "no answer"}
				})
			},
			func() { d.set(func() { d.follows.Failed = time.Time{} }) },
		},
		{
			admin.TroubleLacking,
			func() {
				d.set(func() {
					d.fails, d.lacking = time.Time{}, []report.Lacking{{Kind: report.Cities, Known: 3, Indexed: 504}}
				})
			},
			func() { d.set(func() { d.lacking = nil }) },
		},
		{
			admin.TroubleAnotherJournal,
			func() {
				d.set(func() {
					d.waiting = []report.Waiting{{Kind: report.Cities, Index: "cities", Paused: true, Reason: admin.ReasonAnotherJournal}}
				})
			},
			func() { d.set(func() { d.waiting = nil }) },
		},
		{
			admin.TroubleAlias, // what a search lacks then is no trouble of its own
			func() {
				d.set(func() {
					d.wrong = []report.WrongAlias{{Kind: report.Cities, Alias: "cities", Detail: "it has a filter", Remedy: "DELETE /cities"}}
					d.waiting = []report.Waiting{{Kind: report.Cities, Index: "cities", Paused: true, Reason: admin.ReasonAlias}}
					d.lost = map[report.Kind]int{report.Cities: 7}
				})
				if r := d.status().Troubles[0].Remedy; !strings.HasSuffix(r, "DELETE /cities") {
					t.Errorf("what is to be copied does not end the remedy: %s", r)
				}
				d.set(func() { d.fails = d.now.Add(-admin.SearchBound) })
				if r := d.status().Troubles[0].Remedy; !strings.HasPrefix(r, "First what alias_wrong says") {
					t.Errorf("the remedy of a search that fails, for another reason: %s", r)
				}
				d.set(func() { d.fails = time.Time{} })
			},
			func() { d.set(func() { d.wrong, d.waiting, d.lost = nil, nil, nil }) },
		},
		{admin.TroubleElasticsearch, func() { d.set(func() { d.down = true }) }, func() { d.set(func() { d.down = false }) }},
		{admin.TroubleNotAccepting, func() { d.set(func() { d.cannot = errors.New("no room") }) }, func() { d.set(func() { d.cannot = nil }) }},
		{
			admin.TroubleHeld,
			func() {
				d.set(func() {
					d.waiting = []report.Waiting{{Kind: report.Cities, Index: "cities", Paused: true, Reason: "index_blocked", Detail: "blocked by: [FORBIDDEN/8/index write (api)];[FORBIDDEN/12/index read-only / allow delete (api)];[FORBIDDEN/5/index read-only (api)];"}}
				})
			},
			func() { d.set(func() { d.waiting = []report.Waiting{{Kind: report.Cities, Reason: "overloaded"}} }) }, // this passes by itself
		},
		{
			admin.TroubleLag,
			func() {
				d.deliver("PUT", "/cities/1", `{"t":1}`)
				d.set(func() { d.now = time.Now().Add(admin.LagBound + time.Minute) })
			},
			func() { d.index() },
		},
		{
			admin.TroubleClock,
			func() {
				d.deliver("PUT", "/cities/1", `{"t":1}`)
				d.set(func() { d.now = time.Now().Add(-admin.FutureBound - time.Minute) })
			},
			func() { d.index() },
		},
		{
			admin.TroubleKindHeld,
			func() {
				d.deliver("PUT", "/cities/1", `{"t":1}`)
				d.set(func() { d.holder, d.now = "a 1", time.Now().Add(admin.LagBound+time.Minute) })
			},
			func() { d.index() }, // after this nothing lags; a locked kind by itself is no trouble
		},
		{
			admin.TroubleIncomplete,
			func() {
				d.deliver("PUT", "/cities/1", `{"t":1}`)
				d.index()
				_, err := report.ResendAll(d.t.Context(), d.journal, report.Cities)
				require.NoError(d.t, err)
				if st := d.status(); !st.Well {
					t.Errorf("a document that is sent again, while the index has all: %+v", st.Troubles)
				}
				d.set(func() { d.missing, d.holder = 1234, "" })
			},
			func() { d.index(); d.set(func() { d.missing = 0 }) },
		},
		{
			admin.TroubleMissing,
			func() {
				d.set(func() { d.lost = map[report.Kind]int{report.Cities: 7} })
				if said := d.status().Troubles[0].Detail; !strings.HasSuffix(said, "they were deleted there, and not by riskdex.") {
					t.Errorf("of a journal that has lost nothing: %s", said)
				}
				loss := report.Loss{Since: d.clock().Add(-time.Hour), Until: d.clock()}
				d.note(report.AcknowledgedLossNote(loss), report.NoteOfLoss(loss))
				if said := d.status().Troubles[0].Detail; !strings.Contains(said, "or by a delete that the journal lost") {
					t.Errorf("of a journal that was set back: %s", said)
				}
			},
			func() { d.set(func() { d.lost = map[report.Kind]int{report.Cities: 0} }) },
		},
		{
			admin.TroubleClockDiffers,
			func() { d.set(func() { d.off = -1 }) },
			func() { d.set(func() { d.off = 0 }) },
		},
		{
			admin.TroubleClusters, // for ten minutes, and until everything is sent to the one that stays
			func() {
				turns := report.Turns{At: d.clock(), Places: []string{"a/", "b/"}}
				d.note(report.TurnsNote, turns.Note())
				// What is in one of them says nothing of the other.
				d.set(func() { d.lost, d.missing = map[report.Kind]int{report.Cities: 7}, 1234 })
				for _, later := range []time.Duration{0, report.TurnsLast - time.Second, time.Second} {
					d.set(func() { d.now = d.now.Add(later) })
					if st := d.status(); len(st.Troubles) != 1 || st.Troubles[0].What != admin.TroubleClusters || !strings.Contains(st.Troubles[0].Detail, "a/ and b/") {
						t.Errorf("%v later: %+v", later, st.Troubles)
					}
				}
			},
			func() {
				turns := report.Turns{At: d.clock().Add(-report.TurnsLast)}
				for _, kind := range report.Kinds() {
					sent, _ := turns.NoteOfPlace("", "b/", 0, d.clock())
					sent, _ = turns.NoteOfPlace(sent, "b/", 0, d.clock())
					d.note(report.PlaceNote(kind), sent)
				}
				d.set(func() { d.lost, d.missing = nil, 0 })
				if place := d.status().Kinds[0].Place; place != "b/" {
					t.Errorf("the place is %q", place)
				}
			},
		},
		{
			admin.TroubleNotSearchable,
			func() {
				d.set(func() { d.probe, d.cannot = admin.LagBound+1, errors.New("no room") })
				if slices.ContainsFunc(d.status().Troubles, func(t admin.Trouble) bool { return t.What == admin.TroubleNotSearchable }) {
					t.Error("a probe that the journal does not take says nothing of the search")
				}
				d.set(func() { d.cannot = nil })
			},
			func() { d.set(func() { d.probe = admin.LagBound }) },
		},
		{
			admin.TroubleTurnedAway, // which is over by itself, as the alert is, and not with the reason
			func() {
				d.last.Note(report.Answered{At: d.clock(), Kind: report.Cities, Method: "PUT", Status: 503, Reason: "no_room"})
				d.last.Note(report.Answered{At: d.clock(), Kind: report.Cities, Method: "PUT", Status: 202})
			},
			func() { d.set(func() { d.now = d.now.Add(admin.FailedBound) }) },
		},
		{
			admin.TroubleNotRenewed,
			func() { d.set(func() { d.replace = -time.Second }) },
			func() { d.set(func() { d.replace = 0 }) },
		},
		{
			admin.TroubleCertificate,
			func() { d.set(func() { d.replace = -6*time.Hour - time.Second }) },
			func() { d.set(func() { d.replace = 0 }) },
		},
		{
			admin.TroubleRebuild,
			func() {
				d.note(report.RebuildFailedNote(report.Cities), report.RebuildFailed{At: time.Unix(1, 0), Reason: "no \x00 shards"}.Note())
			},
			func() { d.note(report.RebuildFailedNote(report.Cities), "") },
		},
		{
			admin.TroubleDiffers,
			func() {
				d.note(report.VerifiedNote(report.Cities), report.Verified{At: time.Unix(1, 0), Wrong: 3}.Note())
			},
			func() { d.note(report.VerifiedNote(report.Cities), report.Verified{At: time.Unix(2, 0)}.Note()) },
		},
		{
			admin.TroubleDiffers, // a verification that did not wait for the end of its repair
			func() {
				d.deliver("PUT", "/cities/1", `{"t":1}`)
				d.index()
				_, err := report.ResendAll(d.t.Context(), d.journal, report.Cities)
				require.NoError(d.t, err)
				d.note(report.VerifiedNote(report.Cities), report.Verified{At: time.Unix(3, 0), Wrong: 1, Ordered: 1}.Note())
			},
			func() { d.index() },
		},
		{
			admin.TroubleDeadLetters,
			func() { d.deliver("PUT", "/cities/2", `{"t":"poison"}`); d.index() },
			func() { d.deliver("PUT", "/cities/2", `{"t":1}`); d.index() },
		},
		{
			admin.TroubleFields, // but of an index that apps do not search, and not of few documents
			func() {
				d.set(func() { d.fields = fieldsOf(4, 0, 0) })
				if st := d.status(); !st.Well || st.Kinds[0].Counted != 4 {
					t.Errorf("four documents without a level: %+v", st)
				}
				d.set(func() { d.fields = fieldsOf(165, 165, 12) })
				if st := d.status(); st.Troubles[0].Detail != "Of 165 documents of cities, 153 have no risk_level: riskdex does not find them in the records, and searches by them miss these reports." ||
					!strings.Contains(st.Troubles[0].Remedy, "riskdex mappings show cities says") || !strings.HasSuffix(st.Troubles[0].Remedy, `"without": ["risk_level"]`) {
					t.Errorf("%+v", st.Troubles)
				}
			},
			func() { d.set(func() { d.fields = fieldsOf(165, 149, 83) }) }, // 90 %, and half of them
		},
		{
			admin.TroubleRefusing,
			func() { d.deliver("POST", "/cities", `[{}]`) },
			func() { d.set(func() { d.now = d.now.Add(admin.RefusedBound) }) }, // the same as the alert
		},
		{
			admin.TroubleRefusing, // for as long as search has the record before it
			func() {
				d.deliver("PUT", "/cities/4", `[]`)
				d.set(func() { d.now = d.now.Add(2 * admin.RefusedBound) })
			},
			func() { d.deliver("PUT", "/cities/4", `{"t":1}`); d.index() },
		},
		{
			admin.TroubleUnknownCalls, // fewer than that for either reason alone are none
			func() {
				for range 30 {
					d.last.Note(report.Answered{At: d.clock(), Method: "HEAD", Status: 404, Reason: "unknown_path"})
				}
				for range 20 {
					d.last.Note(report.Answered{At: d.clock(), Status: 404, Reason: "unknown_path"})
					d.last.Note(report.Answered{At: d.clock(), Kind: report.Cities, Status: 401, Reason: "credentials"})
					d.last.Note(report.Answered{At: d.clock(), Kind: report.Cities, Status: 404, Reason: "unknown_path"}) // is told as refused
				}
				if st := d.status(); !st.Well {
					t.Errorf("20 requests for each reason: %+v", st.Troubles)
				}
				d.last.Note(report.Answered{At: d.clock(), Kind: report.Cities, Status: 401, Reason: "credentials"})
			},
			func() { d.set(func() { d.now = d.now.Add(5 * time.Minute) }) },
		},
		{
			admin.TroubleBackup,
			func() { d.backedUp(d.clock().Add(-backupEvery - time.Second)) },
			func() { d.backedUp(d.clock().Add(-backupEvery + time.Second)) },
		},
		{
			admin.TroubleBackup,
			func() { d.note(report.BackupNote, "") },
			func() { d.backedUp(d.clock().Add(20 * backupEvery)) },
		},
		{
			admin.TroubleSilent, // and what does not get in is told as that
			func() {
				d.arrived(report.ArrivalsNote(report.Cities), 0, 15*24*time.Hour)
				if st := d.status(); !st.Well || st.LastDelivery() == nil {
					t.Errorf("before it is overdue: %+v", st.Troubles)
				}
				d.set(func() { d.now = d.now.Add(3*time.Hour + time.Second) })
				d.set(func() { d.cannot = errors.New("no room") })
				if st := d.status(); len(st.Troubles) != 1 || st.Troubles[0].What != admin.TroubleNotAccepting {
					t.Errorf("while nothing is accepted: %+v", st.Troubles)
				}
				d.set(func() { d.cannot = nil })
				if told := d.status().Troubles[0]; told.Kind != report.Cities || !strings.HasSuffix(told.Detail, "in the four weeks before, the longest pause was of 1h.") {
					t.Errorf("%+v", told)
				}
			},
			func() { d.arrived(report.ArrivalsNote(report.Cities), 0, 0) },
		},
		{
			admin.TroubleSilent, // of whom it is said
			func() {
				d.arrived(report.SenderNote("other"), 0, 15*24*time.Hour)
				d.arrived(report.SenderNote("acme"), 0, 0)
				d.set(func() { d.now = d.now.Add(2*time.Hour + time.Second) })
				d.arrived(report.ArrivalsNote(report.Cities), 0, 0)
				if told := d.status().Troubles[0]; told.Kind != "" || !strings.HasPrefix(told.Detail, "Nothing of the sender acme") || !strings.HasSuffix(told.Detail, "--expect-every says 2h.") {
					t.Errorf("%+v", told)
				}
				// What does not come while riskdex is stopped is no silence of others.
				runs := func() {
					a := admin.NewArrivals(d.journal, nil, slog.New(slog.DiscardHandler))
					a.NoteRunning(t.Context(), d.clock())
					a.NoteRunning(t.Context(), d.clock().Add(report.RunningEvery))
				}
				runs()
				if st := d.status(); len(st.Troubles) != 1 {
					t.Errorf("a process that runs: %+v", st.Troubles)
				}
				d.arrived(report.SenderNote("acme"), 0, 0)
				runs()
				// One that is shorter than the pause, but was over when something was due.
				d.set(func() { d.now = d.now.Add(time.Hour) })
				runs()
				d.set(func() { d.now = d.now.Add(time.Hour + time.Minute) })
				d.arrived(report.ArrivalsNote(report.Cities), 0, 0)
				if st := d.status(); !st.Well {
					t.Errorf("none ran for less than the pause: %+v", st.Troubles)
				}
				d.arrived(report.SenderNote("acme"), 0, 0)
				runs()
				d.set(func() { d.now = d.now.Add(3 * time.Hour) })
				d.arrived(report.ArrivalsNote(report.Cities), 0, 0)
				for range 2 {
					if st := d.status(); !st.Well {
						t.Errorf("none ran: %+v", st.Troubles)
					}
					runs()
				}
				d.set(func() { d.now = d.now.Add(2*time.Hour + time.Second) })
				d.arrived(report.ArrivalsNote(report.Cities), 0, 0)
				ran := report.Running{}.At(d.clock().Add(-5*time.Hour - time.Second))
				for ago := 2*time.Hour + time.Second; ago > 0; ago -= report.RunningEvery {
					ran = ran.At(d.clock().Add(-ago))
				}
				d.note(report.RunningNote, ran.Note())
			},
			func() { d.expectNothing() },
		},
		{
			admin.TroubleLogUnread,
			func() { d.set(func() { d.log = logsink.State{Since: d.now.Add(-admin.LogBound), Dropped: 3} }) },
			func() { d.set(func() { d.log.Since = d.now }) },
		},
	} {
		if st := d.status(); !st.Well || len(st.Troubles) != 0 || st.Severity != "" {
			t.Errorf("before %s: %+v", c.what, st.Troubles)
		}
		tried = append(tried, c.what)
		c.begin()
		st := d.status()
		const request = `-d '{"index.blocks.read_only": null, "index.blocks.write": null, "index.blocks.read_only_allow_delete": null}'` // which names the blocks
		if st.Well || len(st.Troubles) != 1 || st.Troubles[0].What != c.what || strings.ContainsAny(st.Troubles[0].Detail+strings.Replace(st.Troubles[0].Remedy, request, "", 1), "{}`") {
			t.Errorf("%s: %+v", c.what, st.Troubles)
		}
		if body, _ := d.read(http.StatusOK, "/"); !strings.Contains(body, shownAs[st.Severity]) || st.Severity != st.Troubles[0].Severity {
			t.Errorf("%s: the page does not show it", c.what)
		}
		c.stop()
	}
	if body, _ := d.read(http.StatusOK, "/"); !strings.Contains(body, "All is well.") {
		t.Error("the page does not show that all is well")
	}
	for _, cause := range admin.Causes() {
		if !slices.Contains(tried, cause.Name) {
			t.Errorf("this test does not cause the trouble %s", cause.Name)
		}
	}
}

// TestLagOfAMinuteIsNoTrouble tests the bound itself.
func TestLagOfAMinuteIsNoTrouble(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":1}`)
	stats, err := d.journal.Stats(t.Context())
	require.NoError(t, err)
	since := stats.Kinds[report.Cities].OldestWaiting
	d.set(func() { d.now = since.Add(admin.LagBound) })
	if st := d.status(); !st.Well || st.Kinds[0].LagSeconds != 60 || st.Kinds[0].Pending != 1 || *st.Kinds[0].Documents != 1234 {
		t.Errorf("at the bound: %+v", st)
	}
	d.set(func() { d.now = since.Add(admin.LagBound + time.Second) })
	if st := d.status(); st.Well {
		t.Error("past the bound there is no trouble")
	}
}

// TestStatusOfAJournalThatCannotBeRead: the status is needed most of all then.
func TestStatusOfAJournalThatCannotBeRead(t *testing.T) {
	d := openStatusDesk(t)
	require.NoError(t, d.journal.Close())
	st := d.status()
	if st.Well || len(st.Troubles) == 0 || st.Troubles[0].What != admin.TroubleJournal || len(st.Kinds) != 0 {
		t.Errorf("the status is %+v, want that the journal cannot be read, and no kinds", st)
	}
	if body, _ := d.read(http.StatusOK, "/"); !strings.Contains(body, "The journal cannot be read") {
		t.Error("the page does not say that the journal cannot be read")
	}
}

func TestLastDeliveriesAreBounded(t *testing.T) {
	var d admin.Deliveries
	if got := d.Last(); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	for i := range 50 {
		d.Note(report.Answered{Accepted: i, Method: strings.Repeat("M", i)})
		if got := d.Last(); len(got) != min(i+1, 20) || got[0].Accepted != i || got[len(got)-1].Accepted != max(0, i-19) {
			t.Fatalf("after %d: %v", i+1, got)
		}
	}
	if got := d.Last()[0].Method; got != "MMMMMMMMMM" {
		t.Errorf("a method is kept as %q", got)
	}
}

// TestHistoryKeepsTheWorstOfEachMinute takes samples over more than an hour.
func TestHistoryKeepsTheWorstOfEachMinute(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":1}`)
	stats, err := d.journal.Stats(t.Context())
	require.NoError(t, err)
	since := stats.Kinds[report.Cities].OldestWaiting
	first := since.Truncate(time.Minute).Add(time.Minute)
	sample := func(at time.Time) {
		d.set(func() { d.now = at })
		d.history.Sample(t.Context())
	}
	sample(first)
	sample(first.Add(50 * time.Second))
	if got := d.history.Of(report.Cities); len(got) != 1 || !got[0].Minute.Equal(first) || got[0].LagSeconds != first.Add(50*time.Second).Sub(since).Seconds() || got[0].Pending != 1 {
		t.Errorf("a minute with two samples: %+v", got)
	}
	d.index()
	sample(first.Add(59 * time.Second)) // the worst stays
	if got := d.history.Of(report.Cities); got[0].LagSeconds < 50 {
		t.Errorf("the worst of the minute is %v", got[0].LagSeconds)
	}
	for i := 1; i < 90; i++ {
		sample(first.Add(time.Duration(i) * time.Minute))
	}
	got := d.history.Of(report.Cities)
	if len(got) != 60 || !got[0].Minute.Equal(first.Add(30*time.Minute)) || !got[59].Minute.Equal(first.Add(89*time.Minute)) || got[59].LagSeconds != 0 {
		t.Errorf("after 90 minutes: %d samples, from %v", len(got), got[0].Minute)
	}
	if st := d.status(); len(st.Kinds[0].History) != 60 {
		t.Errorf("the status has %d of them", len(st.Kinds[0].History))
	}
}

// TestHistoryHasTheLagOfNow asks between two samples: a lag of a minute must not be shown
// beside a history of at most 55 seconds.
func TestHistoryHasTheLagOfNow(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":1}`)
	minute := time.Now().Truncate(time.Minute).Add(2 * time.Minute)
	for _, into := range []time.Duration{10 * time.Second, 65 * time.Second} { // in the minute of the sample, and after it
		d.set(func() { d.now = minute })
		d.history.Sample(t.Context())
		d.set(func() { d.now = minute.Add(into) })
		k := d.status().Kinds[0]
		if last := k.History[len(k.History)-1]; last.LagSeconds != k.LagSeconds || last.Pending != k.Pending {
			t.Errorf("%v later it lags %v, and the history ends with %+v", into, k.LagSeconds, last)
		}
	}
}

func TestProfiles(t *testing.T) {
	d := openStatusDesk(t)
	if body, _ := d.read(http.StatusOK, "/debug/pprof/"); !strings.Contains(body, "goroutine") {
		t.Errorf("the list of profiles is missing: %s", body)
	}
	if body, _ := d.read(http.StatusOK, "/debug/pprof/goroutine?debug=1"); !strings.Contains(body, "goroutine profile: total") {
		t.Errorf("the profile has no goroutines: %s", body)
	}
	d.read(http.StatusNotFound, "/debug/pprof/cmdline") // may hold a password
	req, err := http.NewRequest("GET", d.server.URL+"/debug/pprof/trace?seconds=0.01", nil)
	require.NoError(t, err)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site gets a trace: %d", res.StatusCode)
	}
}

// fieldsOf returns counts of cities of which so many have a title, and a level.
func fieldsOf(documents, titles, levels int) map[report.Kind]report.Fields {
	f := report.Fields{Documents: documents, Fields: []report.FieldCount{
		{Field: "title", Documents: titles, Expected: 90}, {Field: "risk_level", Documents: levels, Expected: 50}, {Field: "location"},
	}}
	f.Judge()
	return map[report.Kind]report.Fields{report.Cities: f}
}

// TestNotSearchableSaysWhy: that Elasticsearch takes changes is said only where nothing speaks against it.
func TestNotSearchableSaysWhy(t *testing.T) {
	d := openStatusDesk(t)
	for want, is := range map[string]func(){
		"Elasticsearch takes changes, and search does not show them.": func() {},
		"shards of probe are not there since 2026-11-20 10:00:00 UTC, for 1m30s: Elasticsearch is still starting them, or lacks their node (all shards failed).": func() {
			d.probeFails = &admin.SearchFailure{Since: d.now.Add(-90 * time.Second), Reason: "unavailable", Detail: "all shards failed"}
		},
		"that search has failed since 2026-11-20 10:01:29 UTC, for 1s: index_closed_exception.": func() {
			d.probeFails = &admin.SearchFailure{Since: d.now.Add(-time.Second), Reason: "index_closed", Detail: "index_closed_exception"}
		},
		"nothing gets through to the index probe since 2026-11-20 10:00:30 UTC, for 1m0s: Elasticsearch does not allow riskdex to (unauthorized).": func() {
			d.waiting = []report.Waiting{{Kind: report.Probe, Index: "probe", Reason: "unauthorized", Paused: true, Since: d.now.Add(-time.Minute)}}
		},
	} {
		d.set(func() {
			d.now, d.probe, d.probeFails, d.waiting = time.Date(2026, 11, 20, 10, 1, 30, 0, time.UTC), admin.LagBound+1, nil, nil
			is()
		})
		all := d.status().Troubles
		i := slices.IndexFunc(all, func(t admin.Trouble) bool { return t.What == admin.TroubleNotSearchable })
		if i < 0 || all[i].Detail != "No search has found the probe document of riskdex for 1m0s: "+want {
			t.Errorf("%+v, want %q", all, want)
		}
	}
}

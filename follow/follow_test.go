package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// open opens an empty journal that forgets deletes once it is told to.
func open(t *testing.T) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{KeepDeleted: time.Nanosecond, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// source is a journal that is followed.
type source struct {
	journal.Journal
	feed  func(context.Context, report.Cursor, int, int) (report.FeedPage, error)
	line  string
	limit int
	wait  bool // what it was last asked
}

func sourceOf(j journal.Journal) *source {
	return &source{Journal: j, feed: j.Feed, line: j.Lineage(), limit: 3}
}

func (s *source) Feed(ctx context.Context, after report.Cursor, wait bool) (report.FeedPage, error) {
	s.wait = wait
	page, err := s.feed(ctx, after, s.limit, 1<<20)
	for i, r := range page.Changes { // as the text of the feed has it
		if !r.HasCode {
			page.Changes[i].Code = ""
		}
	}
	return page, err
}

func (s *source) Line(context.Context, string) (string, error) { return s.line, nil }

func newFollower(s Source, j Journal) *Follower {
	return New(s, j, "http://source", func(report.Answered) {}, slog.New(slog.DiscardHandler))
}

// catchUp has f take steps until it has read everything.
func (f *Follower) catchUp(t *testing.T) {
	t.Helper()
	s, err := load(t.Context(), f.journal)
	require.NoError(t, err)
	steps := 0
	for before := ""; before != s.text() || !s.Anew.Done; steps++ {
		before, f.looked = s.text(), time.Time{}
		require.NoError(t, f.step(t.Context(), &s))
		if steps > 100 {
			t.Fatalf("it does not end: %+v", s)
		}
	}
	require.NoError(t, f.kept)
}

func put(t *testing.T, j Journal, id, code, body string) {
	t.Helper()
	deliver(t, j, report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Code: code, Body: []byte(body)})
}

func deliver(t *testing.T, j Journal, changes ...report.Change) {
	t.Helper()
	_, err := j.Append(t.Context(), report.Delivery{Changes: changes})
	require.NoError(t, err)
}

func remove(t *testing.T, j Journal, id string) {
	t.Helper()
	deliver(t, j, report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Delete})
}

// cities returns what a journal has of cities: the codes and records by id.
func cities(t *testing.T, j journal.Journal) map[report.ID]string {
	t.Helper()
	all := map[report.ID]string{}
	for r, err := range j.Records(t.Context(), report.Cities) {
		require.NoError(t, err)
		code := ""
		if r.HasCode {
			code = r.Code
		}
		all[r.ID] = code + " " + string(r.Body)
	}
	return all
}

func same(t *testing.T, what string, source, own journal.Journal) {
	t.Helper()
	if a, b := cities(t, source), cities(t, own); !maps.Equal(a, b) {
		t.Errorf("%s: the source has %v, and its follower %v", what, a, b)
	}
}

// TestIdsAreThoseOfTheSource, whatever codes say.
func TestIdsAreThoseOfTheSource(t *testing.T) {
	from, own := open(t), open(t)
	f := newFollower(sourceOf(from), own)
	put(t, from, "LON", "", `{}`)      // known by its code alone
	put(t, from, "130", "PAR", `{}`)   // states a code
	put(t, from, "par", "", `{"a":1}`) // is for that one
	deliver(t, from, report.Change{Key: report.Key{Kind: report.Cities, ID: "ROM"}, OwnID: "ROM", Op: report.Index, Code: "ROM", Body: []byte(`{}`)})
	put(t, from, "131", "ROM", `{}`) // beside the city with that id
	f.catchUp(t)
	same(t, "at first", from, own)
	deliver(t, from, report.Change{Key: report.Key{Kind: report.Cities, ID: "LON"}, OwnID: "7", Op: report.Index, Code: "LON", Body: []byte(`{}`)}) // adopts it
	remove(t, from, "131")
	f.catchUp(t)
	same(t, "then", from, own)
}

// losesNotes is a journal that sometimes is killed before a note is written.
type losesNotes struct {
	Journal
	random *rand.Rand
}

var errKilled = errors.New("killed")

func (j losesNotes) Note(ctx context.Context, name, value string) error {
	if j.random.IntN(3) == 0 {
		return errKilled
	}
	return j.Journal.Note(ctx, name, value)
}

// TestFollowersOfOneJournal are killed at any moment, and read by turns.
func TestFollowersOfOneJournal(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		from, own := open(t), open(t)
		put(t, own, "old", "", "{}")
		type one struct {
			*Follower
			state
		}
		var all [2]one
		for range 120 {
			switch i := r.IntN(8); i {
			case 0, 1:
				put(t, from, fmt.Sprint(r.IntN(8)), "", fmt.Sprintf(`{"n":%d}`, r.IntN(1000)))
			case 2:
				remove(t, from, fmt.Sprint(r.IntN(8)))
			case 3:
				if r.IntN(10) == 0 {
					claimed, err := from.Claim(t.Context(), report.Cities, 100, 1<<20)
					require.NoError(t, err)
					for _, c := range claimed {
						require.NoError(t, from.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: map[report.Op]report.Outcome{report.Index: report.Indexed, report.Delete: report.Deleted}[c.Op]}}))
					}
					_, err = from.DropDeleted(t.Context())
					require.NoError(t, err)
				}
			default:
				f := &all[i%2]
				var err error
				if f.Follower == nil || r.IntN(6) == 0 {
					f.Follower = newFollower(sourceOf(from), losesNotes{own, r})
					f.state, err = load(t.Context(), own)
					require.NoError(t, err)
				}
				if err := f.step(t.Context(), &f.state); err != nil {
					if !errors.Is(err, errKilled) {
						t.Fatal(err)
					}
					f.Follower = nil
				}
			}
		}
		newFollower(sourceOf(from), own).catchUp(t)
		same(t, fmt.Sprint("seed ", seed), from, own)
		if t.Failed() {
			return
		}
	}
}

// TestPageThatComesLateOvertakesNothing: another process of this journal has gone on meanwhile.
func TestPageThatComesLateOvertakesNothing(t *testing.T) {
	from, own := open(t), open(t)
	put(t, from, "1", "", `{"old":1}`)
	slow := sourceOf(from)
	read := slow.feed
	slow.feed = func(ctx context.Context, c report.Cursor, limit, bytes int) (report.FeedPage, error) {
		page, err := read(ctx, c, limit, bytes)
		put(t, from, "1", "", `{"new":1}`)
		newFollower(sourceOf(from), own).catchUp(t)
		return page, err
	}
	s, f := state{}, newFollower(slow, own)
	require.NoError(t, f.step(t.Context(), &s)) // begins
	require.NoError(t, f.step(t.Context(), &s)) // and is killed then
	same(t, "in the end", from, own)
}

// failing returns why a step of f fails.
func (f *Follower) failing(t *testing.T) string {
	t.Helper()
	s, err := load(t.Context(), f.journal)
	require.NoError(t, err)
	f.looked = time.Time{}
	if err = f.step(t.Context(), &s); err == nil {
		err = f.kept
	}
	if err == nil {
		t.Fatal("it is followed")
	}
	return err.Error()
}

// TestWhatMayBeTheOnlyCopyStays: of a source that was set back, and of another one.
func TestWhatMayBeTheOnlyCopyStays(t *testing.T) {
	from, own := open(t), open(t)
	source := sourceOf(from)
	f := newFollower(source, own)
	put(t, from, "1", "", `{}`)
	put(t, from, "2", "", `{"a":1}`)
	f.catchUp(t)
	want := cities(t, own)

	back := open(t) // as it was before
	put(t, back, "1", "", `{"old":1}`)
	setBack := sourceOf(back)
	setBack.line = source.line
	f.source = setBack
	if why := f.failing(t); !strings.Contains(why, "cities 2") || !maps.Equal(cities(t, own), want) {
		t.Errorf("of one that was set back: %s; it has %v", why, cities(t, own))
	}
	put(t, back, "2", "", `{"a":2}`) // was delivered again
	f.catchUp(t)
	same(t, "delivered again", back, own)

	f.source = sourceOf(open(t))
	want = cities(t, own)
	if why := f.failing(t); !strings.Contains(why, "another journal") || !maps.Equal(cities(t, own), want) {
		t.Errorf("of another one: %s; it has %v", why, cities(t, own))
	}
	f.source = sourceOf(own)
	if why := f.failing(t); !strings.Contains(why, "of this riskdex itself") {
		t.Errorf("of itself: %s", why)
	}
	setBack.line = ""
	f.source = setBack
	s, err := load(t.Context(), own)
	require.NoError(t, err)
	if err := f.begin(t.Context(), &s, "a test"); err == nil || !strings.Contains(err.Error(), "which journal") {
		t.Errorf("of one that names no journal: %v", err)
	}

	// While it reads anew, it still knows what it had been told.
	setBack.line, setBack.limit = source.line, 1
	newest := s.Newest
	require.NoError(t, f.begin(t.Context(), &s, "a test"))
	require.NoError(t, f.step(t.Context(), &s))
	if s.Cursor == "" || s.Newest != newest {
		t.Errorf("the newest that it was told is %+v, was %+v", s.Newest, newest)
	}
}

// TestMostDocumentsAreNotDeleted: the journal has followed nobody, and has more than the source. While
// most of one kind would go, nothing of another goes either.
func TestMostDocumentsAreNotDeleted(t *testing.T) {
	from, own := open(t), open(t)
	for i := range 12 {
		put(t, own, fmt.Sprint("own", i), "", "{}")
	}
	deliver(t, own, report.Change{Key: report.Key{Kind: report.Advisories, ID: "1"}, Op: report.Index, Body: []byte("{}")})
	put(t, from, "1", "", "{}")
	source := sourceOf(from)
	f := newFollower(source, own)
	s := state{}
	for f.kept == nil {
		require.NoError(t, f.step(t.Context(), &s))
	}
	f.tell(s, f.kept)
	why := f.failing(t)
	advisories, err := own.Documents(t.Context(), report.Advisories)
	require.NoError(t, err)
	if !strings.Contains(why, "12 of the 13 cities") || len(cities(t, own)) != 13 || advisories != 1 {
		t.Errorf("%s; it has %d and %d", why, len(cities(t, own)), advisories)
	}
	if !source.wait {
		t.Error("the source is asked without a pause")
	}
	for i := range 11 {
		put(t, from, fmt.Sprint("own", i), "", "{}")
	}
	f.catchUp(t)
	same(t, "in the end", from, own)
}

// TestWhatIsNotToldYetStays: it was delivered again while the page was read.
func TestWhatIsNotToldYetStays(t *testing.T) {
	from, own := open(t), open(t)
	put(t, from, "1", "", `{"a":1}`)
	put(t, own, "1", "", `{}`)
	source, pages := sourceOf(from), 0
	source.feed = func(ctx context.Context, c report.Cursor, limit, bytes int) (report.FeedPage, error) {
		page, err := from.Feed(ctx, c, limit, bytes)
		if pages++; pages == 1 {
			page.Changes = nil
		}
		return page, err
	}
	f, s := newFollower(source, own), state{}
	for range 3 {
		require.NoError(t, f.step(t.Context(), &s))
		if len(cities(t, own)) != 1 {
			t.Errorf("it has %v", cities(t, own))
		}
	}
	put(t, from, "1", "", `{"a":2}`)
	f.catchUp(t)
	same(t, "in the end", from, own)
}

// TestPageOfAnotherStateSaysNothing: another process began anew while it was read.
func TestPageOfAnotherStateSaysNothing(t *testing.T) {
	from, own := open(t), open(t)
	for i := range 12 {
		put(t, from, fmt.Sprint(i), "", "{}")
	}
	source := sourceOf(from)
	f := newFollower(source, own)
	f.catchUp(t)
	put(t, from, "12", "", "{}")
	s, err := load(t.Context(), own)
	require.NoError(t, err)
	source.feed = func(ctx context.Context, c report.Cursor, limit, bytes int) (report.FeedPage, error) {
		other := s
		require.NoError(t, newFollower(sourceOf(from), own).begin(ctx, &other, "a test"))
		return from.Feed(ctx, c, limit, bytes)
	}
	f.looked = time.Time{}
	if err := f.step(t.Context(), &s); err != nil || f.kept != nil || s.Anew.Why != "a test" {
		t.Errorf("%v, %v, %+v", err, f.kept, s)
	}
	source.feed = from.Feed
	f.catchUp(t)
	same(t, "in the end", from, own)
}

// TestLostRecordsStay: the source has the document, and no record of it to tell.
func TestLostRecordsStay(t *testing.T) {
	for i, lost := range []report.Lost{report.LostDamaged, report.LostDropped, report.LostDropped} {
		from, own := open(t), open(t)
		put(t, own, "1", "", `{"a":1}`)
		put(t, own, "2", "", `{}`)
		put(t, from, "1", "", `{"b":1}`)
		source := sourceOf(from)
		source.feed = func(ctx context.Context, c report.Cursor, limit, bytes int) (report.FeedPage, error) {
			page, err := from.Feed(ctx, c, limit, bytes)
			for i := range page.Changes {
				page.Changes[i].Lost, page.Changes[i].Body = lost, nil
			}
			return page, err
		}
		want, refused := ` {"a":1}`, 1
		if i == 2 { // it has been told the record before it was lost
			newFollower(sourceOf(from), own).catchUp(t)
			_, err := End(t.Context(), own)
			require.NoError(t, err)
			want, refused = ` {"b":1}`, 0
		}
		newFollower(source, own).catchUp(t)
		if got := cities(t, own); len(got) != 1 || got["1"] != want {
			t.Errorf("%s: it has %v, want what it had of city 1", lost, got)
		}
		kept, err := own.Refusals(t.Context(), 0, 10)
		require.NoError(t, err)
		stats, err := own.Stats(t.Context())
		require.NoError(t, err)
		if n := stats.Kinds[report.Cities].RefusedDocuments; n != refused {
			t.Errorf("%s: the newest records of %d documents are said to be refused, want %d", lost, n, refused)
		}
		if len(kept) != refused || refused == 1 && (kept[0].ID != "1" || kept[0].Kind != report.Cities) {
			t.Errorf("%s: refused is %+v, want %d", lost, kept, refused)
		}
		put(t, from, "1", "", `{"c":1}`)
		newFollower(sourceOf(from), own).catchUp(t)
		if kept, err = own.Refusals(t.Context(), 0, 10); err != nil || len(kept) != 0 {
			t.Errorf("%s: once it was delivered again, refused is %+v, %v", lost, kept, err)
		}
		same(t, string(lost), from, own)
	}
}

// TestWhoTookDeliveriesReadsAnew: what it has by then may not be what its source has told.
func TestWhoTookDeliveriesReadsAnew(t *testing.T) {
	from, own := open(t), open(t)
	f := newFollower(sourceOf(from), own)
	put(t, from, "1", "", `{}`)
	f.catchUp(t)
	had, err := End(t.Context(), own)
	if !had || err != nil {
		t.Fatalf("it has followed: %t, %v", had, err)
	}
	if had, err = End(t.Context(), own); had || err != nil {
		t.Errorf("once more: %t, %v", had, err)
	}
	put(t, own, "2", "", `{}`)
	newFollower(sourceOf(from), own).catchUp(t)
	same(t, "in the end", from, own)
	s, err := load(t.Context(), own)
	if err != nil || s.Anew.Why != "this journal has taken deliveries itself" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestTombstoneOfThreeLettersIsTaken by a journal that has lost changes: its id is no code.
func TestTombstoneOfThreeLettersIsTaken(t *testing.T) {
	from, own := open(t), open(t)
	put(t, from, "1", "", `{}`)
	f := newFollower(sourceOf(from), own)
	f.catchUp(t)
	require.NoError(t, own.CheckGiven(t.Context(), []report.Stamp{{Key: report.Key{Kind: report.Cities, ID: "1"}, Version: report.Version(time.Now().Add(time.Hour).UnixMicro())}}))
	if stats, err := own.Stats(t.Context()); err != nil || !stats.Loss.Lost() {
		t.Fatalf("nothing is lost, %v", err)
	}
	deliver(t, from, report.Change{Key: report.Key{Kind: report.Cities, ID: "LON"}, OwnID: "LON", Op: report.Index, Body: []byte(`{}`)})
	remove(t, from, "LON")
	f.catchUp(t)
	same(t, "in the end", from, own)
}

// TestWhatWasSentAgainMeanwhileIsDeleted: a version that this journal has given it since is no news of the
// source.
func TestWhatWasSentAgainMeanwhileIsDeleted(t *testing.T) {
	from, own := open(t), open(t)
	for i := range 7 { // more than a page
		put(t, from, fmt.Sprint(i), "", "{}")
	}
	put(t, own, "reissued", "", "{}")
	put(t, own, "retried", "", "{}")
	claimed, err := own.Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	for _, c := range claimed {
		outcome := report.Indexed
		if c.ID == "retried" {
			outcome = report.Dead
		}
		require.NoError(t, own.Settle(t.Context(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: outcome}}))
	}
	f, s := newFollower(sourceOf(from), own), state{}
	require.NoError(t, f.step(t.Context(), &s)) // begins
	require.NoError(t, f.step(t.Context(), &s)) // and reads a page
	for _, c := range claimed {
		if c.ID == "retried" {
			_, err = own.RetryDead(t.Context(), []report.Stamp{{Key: c.Key, Version: c.Version}})
		} else {
			_, err = own.Reissue(t.Context(), []report.Stamp{{Key: c.Key, Version: c.Version}})
		}
		require.NoError(t, err)
	}
	f.catchUp(t)
	same(t, "in the end", from, own)
}

// TestRecordThatNobodyHas does not keep the reading from its end.
func TestRecordThatNobodyHas(t *testing.T) {
	from, own := open(t), open(t)
	for _, j := range []*sqlite.Journal{from, own} {
		put(t, j, "1", "", `{}`)
		claimed, err := j.Claim(t.Context(), report.Cities, 10, 1<<20)
		require.NoError(t, err)
		require.NoError(t, j.Settle(t.Context(), []report.Settlement{{Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Dead}}))
		n, err := j.DropDead(t.Context(), []report.Stamp{{Key: claimed[0].Key, Version: claimed[0].Version}})
		require.NoError(t, err)
		if n != 1 {
			t.Fatal("its record was not dropped")
		}
	}
	f, s := newFollower(sourceOf(from), own), state{}
	for range 4 {
		f.looked = time.Time{}
		require.NoError(t, f.step(t.Context(), &s))
	}
	if !s.Anew.Done || f.kept != nil || len(cities(t, own)) != 1 {
		t.Errorf("%+v, %v; it has %v", s.Anew, f.kept, cities(t, own))
	}
}

// TestProcessesOfOneJournalDoNotFight: the one that was started last decides, and the others say so.
func TestProcessesOfOneJournalDoNotFight(t *testing.T) {
	from, other, own := open(t), open(t), open(t)
	put(t, from, "1", "", `{}`)
	put(t, other, "2", "", `{}`)
	f := newFollower(sourceOf(from), own)
	s := state{}
	for range 3 {
		require.NoError(t, f.step(t.Context(), &s))
	}
	if why := newFollower(sourceOf(other), own).failing(t); !strings.Contains(why, "another journal") {
		t.Errorf("one that follows another riskdex: %s", why)
	}
	same(t, "of two that follow", from, own)

	had, err := End(t.Context(), own)
	if !had || err != nil {
		t.Fatalf("it has followed: %t, %v", had, err)
	}
	put(t, own, "1", "", `{"own":1}`)
	put(t, from, "1", "", `{"theirs":1}`)
	for range 3 {
		err = f.step(t.Context(), &s)
	}
	if err == nil || !strings.Contains(err.Error(), "takes deliveries itself") || cities(t, own)["1"] != ` {"own":1}` {
		t.Errorf("beside one that takes deliveries: %v; it has %v", err, cities(t, own))
	}
	begun := make(chan error)
	go func() { begun <- Begun(t.Context(), own, time.Millisecond) }()
	newFollower(sourceOf(from), own).catchUp(t)
	if err := <-begun; err == nil || !strings.Contains(err.Error(), "follows a riskdex") {
		t.Errorf("the one that takes deliveries goes on: %v", err)
	}
}

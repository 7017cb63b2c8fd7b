package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/julienschmidt/httprouter"

	"riskdex/report"
)

// The bounds of a status: the time to gather it, the part of that for Elasticsearch's
// counts of documents, and how many failures it lists.
const (
	statusTimeout    = 10 * time.Second
	documentsTimeout = 2 * time.Second
	listed           = 20
	lookedThrough    = 100 // refusals that are read at first, to find the newest of each kind
)

// statuses gathers statuses.
type statuses struct{ Parts }

func (s *statuses) register(router *httprouter.Router, a *api) {
	a.register(router, []call{{http.MethodGet, "/api/status", "", func(r *request) (any, error) {
		return s.now(r.Context()), nil
	}}})
	if s.Documents != nil {
		a.registerLookups(router, []call{{http.MethodGet, "/api/document", "kind id journal_only", s.document}, {http.MethodGet, "/api/documents", "kind id after limit", s.entries}, s.deliveryCall()})
	}
}

// now gathers a status. A failure to get a part of it is a trouble and not an error,
// because the rest is then needed all the more.
func (s *statuses) now(ctx context.Context) Status {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	at := s.Status.Now()
	st := Status{
		At: at.UTC(), StartedAt: s.Status.Started.UTC(), Process: s.Status.Process, Line: s.Status.Line, Processes: []string{}, Accepting: true, ElasticsearchUp: s.Health.ElasticsearchUp(),
		Kinds: []KindStatus{}, Waiting: []report.Waiting{}, WrongAliases: []report.WrongAlias{}, Rebuilds: []report.Rebuild{}, Deliveries: []report.Answered{}, Dead: []DeadLetter{}, Refused: []Refusal{},
	}
	ev := evidence{backupEvery: s.Status.BackupEvery, incomplete: map[report.Kind]bool{}, newest: map[report.Kind]time.Time{}, refusedDocuments: map[report.Kind]int{}, refused: map[report.Kind]report.Refusal{}}
	if err := s.Health.CanAccept(); err != nil {
		st.Accepting, st.CannotAccept = false, err.Error()
	}
	if s.Status.Follows != nil {
		st.Follows = s.Status.Follows()
	}
	if s.Status.Waiting != nil {
		st.Waiting = append(st.Waiting, s.Status.Waiting()...)
	}
	if s.Status.WrongAliases != nil {
		st.WrongAliases = append(st.WrongAliases, s.Status.WrongAliases()...)
	}
	if s.Status.SearchFails != nil {
		st.SearchFails = s.Status.SearchFails()
	}
	if s.Rebuilder != nil {
		st.Rebuilds = append(st.Rebuilds, s.Rebuilder.Rebuilds()...)
	}
	if s.Status.Deliveries != nil {
		st.Deliveries = append(st.Deliveries, s.Status.Deliveries.Last()...)
		ev.unknownCalls = s.Status.Deliveries.UnknownCalls(st.At)
		if last, ok := s.Status.Deliveries.Failed(st.At); ok {
			ev.failed = &last
		}
	}
	if ev.unreadable = s.sums(ctx, &st, &ev); ev.unreadable == nil {
		ev.unreadable = s.failed(ctx, &st, &ev)
	}
	if s.Status.Lacking != nil {
		ev.lacking = s.Status.Lacking()
	}
	if s.Status.Missing != nil {
		ev.missing = s.Status.Missing()
	}
	if s.Status.Probe != nil {
		p := s.Status.Probe()
		ev.probe = &p
	}
	if s.Status.Certificate != nil {
		c := s.Status.Certificate()
		ev.certificate = &c
	}
	if s.Status.Log != nil {
		ev.log = s.Status.Log()
	}
	st.Troubles = troublesOf(st, ev)
	if st.Well = len(st.Troubles) == 0; !st.Well {
		st.Severity = st.Troubles[0].Severity
	}
	return st
}

// sums adds the sums of the journal to st, and its notes to ev.
func (s *statuses) sums(ctx context.Context, st *Status, ev *evidence) error {
	stats, err := s.Status.Journal.Stats(ctx)
	if err != nil {
		return err
	}
	ev.notes = stats.Notes
	if turns := report.TurnsIn(stats.Notes); turns.Wrong(stats.Notes, st.At) {
		ev.turns = &turns
	}
	st.Journal = journalStatus(stats, st.At)
	st.RefusedTotal = stats.Refused
	st.Processes = append(st.Processes, stats.Processes...)
	documents := s.documents(ctx, st.ElasticsearchUp)
	var taken map[report.Kind]int
	if s.Status.Taken != nil {
		taken = s.Status.Taken()
	}
	var fields map[report.Kind]report.Fields
	if s.Status.Fields != nil {
		fields = s.Status.Fields()
	}
	var arrived map[report.Kind]Arrived
	arrived, st.Senders = s.Status.Expected.arrived(stats.Notes, st.StartedAt, st.At)
	for _, kind := range report.Kinds() {
		k := stats.Kinds[kind]
		st.DeadTotal += k.DeadLetters
		one := KindStatus{
			Kind: kind, Delivered: arrived[kind], Documents: documents[kind], Taken: taken[kind], Pending: k.Pending, Resending: k.Resending, DeadLetters: k.DeadLetters, Place: report.PlaceIn(stats.Notes, kind), Holder: k.Holder,
			LagSeconds: lagSeconds(k.OldestWaiting, st.At), History: []Sample{},
			Fields: append([]report.FieldCount{}, fields[kind].Fields...), Counted: fields[kind].Documents,
		}
		if ev.incomplete[kind], err = s.isIncomplete(ctx, st, one, k.DroppedLetters); err != nil {
			return err
		}
		ev.newest[kind], ev.refusedDocuments[kind] = k.NewestWaiting, k.RefusedDocuments
		if s.Status.History != nil {
			now := Sample{Minute: st.At.Truncate(time.Minute), LagSeconds: one.LagSeconds, Pending: one.Pending}
			one.History = withSample(s.Status.History.Of(kind), now)
		}
		st.Kinds = append(st.Kinds, one)
	}
	return nil
}

// isIncomplete reports whether the index of a kind lacks a good part of what it had.
func (s *statuses) isIncomplete(ctx context.Context, st *Status, k KindStatus, dropped int) (bool, error) {
	if may := st.mayBeIncomplete(k); !may || s.Documents == nil {
		return may, nil
	}
	// The index does not lack what is deleted once more, such as after a restart.
	live, err := s.Documents.Documents(ctx, k.Kind)
	return *k.Documents < live-k.Pending-k.DeadLetters-dropped, err
}

func journalStatus(stats report.Stats, now time.Time) *JournalStatus {
	j := &JournalStatus{Bytes: stats.Bytes, WAL: stats.WAL, Used: stats.Used, Limit: stats.Limit, Free: stats.Free, History: historyStatus(stats, now)}
	if at := report.BackupIn(stats.Notes); !at.IsZero() {
		j.BackupAt = &at
	}
	if stats.Loss.Lost() {
		j.Loss = &stats.Loss
	}
	return j
}

// documents asks the indices how many documents of each kind a search can find.
func (s *statuses) documents(ctx context.Context, up bool) map[report.Kind]*int {
	counts := map[report.Kind]*int{}
	if s.Status.Index == nil || !up {
		return counts
	}
	ctx, cancel := context.WithTimeout(ctx, documentsTimeout)
	defer cancel()
	for _, kind := range report.Kinds() {
		n, err := s.Status.Index.Documents(ctx, kind)
		if err != nil {
			s.Log.Debug("the status lacks how many documents search shows", "kind", kind, "error", err)
			continue
		}
		counts[kind] = &n
	}
	return counts
}

// failed adds dead letters and refusals to st, and the newest refusal of each kind to ev.
func (s *statuses) failed(ctx context.Context, st *Status, ev *evidence) error {
	if s.DeadLetters != nil && st.DeadTotal > 0 {
		for _, kind := range report.Kinds() {
			letters, err := s.DeadLetters.DeadLetters(ctx, kind, "", listed)
			if err != nil {
				return err
			}
			for _, l := range letters {
				st.Dead = append(st.Dead, letterOf(l))
			}
		}
	}
	if s.Refusals != nil && st.RefusedTotal > 0 {
		return s.refused(ctx, st, ev)
	}
	return nil
}

// refused adds the newest refusals to st, and to ev the newest one of each kind that is new enough
// to be a trouble. There may be many of another kind after it.
func (s *statuses) refused(ctx context.Context, st *Status, ev *evidence) error {
	for before, limit := int64(0), lookedThrough; ; limit = longestPage {
		page, err := s.Refusals.Refusals(ctx, before, limit)
		if err != nil {
			return err
		}
		for _, r := range page {
			if len(st.Refused) < listed {
				st.Refused = append(st.Refused, refusalOf(r, s.Receiver))
			}
			if _, newer := ev.refused[r.Kind]; !newer {
				ev.refused[r.Kind] = r
			}
		}
		if len(page) < limit || st.At.Sub(page[limit-1].At) >= RefusedBound {
			return nil
		}
		before = page[limit-1].Seq
	}
}

// lagSeconds returns the seconds from since to now, or 0 if since is zero.
func lagSeconds(since, now time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since).Seconds())
}

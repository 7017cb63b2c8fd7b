package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/follow"
	"riskdex/internal/exportline"
	"riskdex/internal/problem"
	"riskdex/journal"
	"riskdex/report"
)

// followSettings say which riskdex is followed in place of a publisher.
type followSettings struct {
	Follow           string   `name:"follow" env:"RISKDEX_FOLLOW_URL" placeholder:"URL" help:"Follow another riskdex, by its admin listener, in place of a publisher: this one then takes no deliveries, and has all that the other has."`
	FollowTokenFiles []string `name:"follow-token-file" env:"RISKDEX_FOLLOW_TOKEN_FILE" placeholder:"FILE" help:"A file whose first line is a token for it. Or set the token itself in RISKDEX_FOLLOW_TOKEN."`
	FollowCAFile     string   `name:"follow-ca-file" env:"RISKDEX_FOLLOW_CA_FILE" placeholder:"FILE" help:"Authorities (PEM) to trust for it in place of the system's."`
}

// followTokenVariable is adminTokenVariable for the riskdex that is followed.
const followTokenVariable = "RISKDEX_FOLLOW_TOKEN" // #nosec G101 -- the name of a variable

// follower returns what follows another riskdex, or nil if none is to be followed.
func (s followSettings) follower(j follow.Journal, observe func(report.Answered), log *slog.Logger) (*follow.Follower, error) {
	if s.Follow == "" {
		return nil, nil
	}
	source, err := s.followed()
	if err != nil {
		return nil, err
	}
	return follow.New(source, j, redacted(source.base), observe, log), nil
}

// followed returns the riskdex that is followed.
func (s followSettings) followed() (followed, error) {
	client, err := adminCalls{"follow", s.Follow, s.FollowTokenFiles, s.FollowCAFile}.client(streams{})
	return followed{client}, err
}

// followed is a riskdex as a follow.Source.
type followed struct{ *adminClient }

// Feed implements follow.Source.
func (f followed) Feed(ctx context.Context, after report.Cursor, wait bool) (page report.FeedPage, err error) {
	q := query("after", after.String(), "limit", "1000")
	if wait && !after.Begins() {
		q.Set("wait", "20")
	}
	var answer admin.ChangesPage
	err = f.get(ctx, "/api/changes", q, &answer)
	if p, ok := errors.AsType[*admin.Problem](err); ok && p.Status == http.StatusGone {
		if p.Reason == admin.ReasonCursorTooOld {
			return page, report.ErrCursorTooOld
		}
		return page, report.ErrOtherFeed
	}
	if err != nil {
		return page, err
	}
	if page.Next, err = report.ParseCursor(answer.Next); err != nil {
		return page, err
	}
	page.More = answer.More
	for _, item := range answer.Items {
		l, err := exportline.ParseVersion(item)
		if err != nil {
			return page, fmt.Errorf("read a change: %w", err)
		}
		if l.Identity == nil {
			return page, errors.New("it does not tell by what documents are known there: is it a riskdex of this version?")
		}
		r := report.Record{Lost: l.Lost, Change: report.Change{Key: l.Key, Op: report.Index, Code: l.Code, Version: l.Version, AcceptedAt: l.AcceptedAt, Identity: l.Identity, Body: l.Record}}
		if l.Deleted {
			r.Op = report.Delete
		}
		page.Changes = append(page.Changes, r)
	}
	return page, nil
}

// Line implements follow.Source.
func (f followed) Line(ctx context.Context, own string) (string, error) {
	var st admin.Status
	err := f.get(ctx, "/api/status", nil, &st)
	if err == nil && st.Follows != nil && st.Follows.Line == own {
		err = errors.New("it follows this riskdex itself: one of the two has to take deliveries")
	}
	return st.Line, err
}

// Entries implements follow.Source.
func (f followed) Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error) {
	return f.entries(ctx, kind, "after", string(after), "limit", strconv.Itoa(limit))
}

// Lookup implements follow.Source.
func (f followed) Lookup(ctx context.Context, kind report.Kind, ids []report.ID) (all []report.Entry, err error) {
	for _, id := range ids {
		found, err := f.entries(ctx, kind, "id", string(id))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (f followed) entries(ctx context.Context, kind report.Kind, which ...string) (all []report.Entry, err error) {
	var page admin.Page[admin.Entry]
	err = f.get(ctx, "/api/documents", query(append(which, "kind", string(kind))...), &page)
	if err == nil && page.Items == nil {
		err = errors.New("it does not list its documents: is that the admin listener of a riskdex?")
	}
	for _, e := range page.Items {
		op := report.Index
		if e.Deleted {
			op = report.Delete
		}
		all = append(all, report.Entry{Stamp: report.Stamp{Key: report.Key{Kind: kind, ID: e.ID}, Version: e.Version}, Op: op})
	}
	return all, err
}

// followedTimeout is longer than the followed riskdex waits for changes, for its reads and for a page to
// be sent. Without it nobody would notice one that hangs, or a connection that is dead.
const followedTimeout = time.Minute

// lookBeside is the time between two looks whether another process of the journal follows a riskdex.
const lookBeside = 2 * time.Second

var errFollowedHangs = fmt.Errorf("it has not answered for %s", followedTimeout)

func (f followed) get(ctx context.Context, path string, q map[string][]string, answer any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, followedTimeout, errFollowedHangs)
	defer cancel()
	err := f.ask(ctx, http.MethodGet, path, q, nil, answer)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// refuseDeliveries returns the handler of the listener for deliveries of a riskdex that follows another
// one. A sender that repeats what is answered with 503 loses nothing while that is put right. That the
// process is alive is said as always; it is never ready for deliveries.
func refuseDeliveries(from string, checks http.Handler, observe func(report.Answered)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			checks.ServeHTTP(w, r)
			return
		}
		observe(report.Answered{At: time.Now(), Method: r.Method, Path: r.URL.EscapedPath(), Status: http.StatusServiceUnavailable, Reason: "follows"})
		problem.Write(w, &admin.Problem{
			Status: http.StatusServiceUnavailable, Reason: "follows",
			Detail: "This riskdex takes no deliveries, because it follows another one. Deliver to that one: " + from + " is its admin listener.",
		})
	})
}

// laggingJournal has sums that say that a follower lags behind the riskdex that it follows.
type laggingJournal struct {
	journal.Journal
	follower *follow.Follower
}

// Stats implements admin.Journal.
func (j laggingJournal) Stats(ctx context.Context) (report.Stats, error) {
	stats, err := j.Journal.Stats(ctx)
	if err == nil && j.follower != nil {
		stats = j.follower.Lagging(stats)
	}
	return stats, err
}

// followingIn returns what the status says of a follower; nil if nobody is followed.
func followingIn(f *follow.Follower) func() *admin.Following {
	if f == nil {
		return nil
	}
	return func() *admin.Following {
		s := f.Status()
		is := &admin.Following{From: f.From(), Line: s.Line, Failed: s.Failed}
		if s.Err != nil {
			is.Error = s.Err.Error()
		}
		if !s.Anew.At.IsZero() {
			is.Anew = &admin.Anew{At: s.Anew.At, Why: s.Anew.Why, Done: s.Anew.Done}
		}
		return is
	}
}

func registerFollower(reg prometheus.Registerer, f *follow.Follower) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_follow_failing_seconds",
		Help: "How long the riskdex that is followed could not be followed; 0 while it can, or if none is.",
	}, func() float64 {
		if f == nil {
			return 0
		}
		if failed := f.Status().Failed; !failed.IsZero() {
			return time.Since(failed).Seconds()
		}
		return 0
	}))
}

package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"riskdex/internal/exportline"
	"riskdex/report"
)

// Changes is what the feed of changes needs of the journal.
type Changes interface {
	// Feed returns the changes after a cursor, in the order of versions.
	Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (report.FeedPage, error)
	// Committed returns a channel that is closed once Feed may have more.
	Committed() <-chan struct{}
}

// Reasons why the feed cannot go on from a cursor, in a Problem with status 410.
const (
	ReasonCursorTooOld = "cursor_too_old" // deletes that came after it are forgotten
	ReasonOtherFeed    = "other_feed"     // the journal was copied or set back, or is another one
)

// ChangesPage is a part of the feed of changes.
type ChangesPage struct {
	Items []json.RawMessage `json:"items"` // as exportline.AppendVersion has them
	Next  string            `json:"next"`  // where to go on
	More  bool              `json:"more"`  // there is more already
}

// Bounds of the feed.
const (
	feedPolls     = 64               // calls that wait at the same time
	feedReads     = 4                // pages read at the same time
	feedPages     = 8                // pages in memory, until their clients have taken them
	feedPageBytes = 4 << 20          // of records in a page, unless one is larger
	feedLongest   = 30 * time.Second // that a call may wait
	feedLook      = 2 * time.Second  // between two looks, where no commit is noticed
	feedPause     = 50 * time.Millisecond
)

// feeds answers the call for changes.
type feeds struct {
	journal  Changes
	compared <-chan struct{} // closed once the journal may be told
	metrics  *ReadMetrics
	log      *slog.Logger
	ends     <-chan struct{} // closed when calls must wait no longer
	polls    readLimit       // of calls that wait
	reads    readLimit       // of pages that are read
	pages    readLimit       // of pages in memory
}

func newFeeds(journal Changes, compared <-chan struct{}, metrics *ReadMetrics, ends <-chan struct{}, log *slog.Logger) *feeds {
	return &feeds{journal, compared, metrics, log, ends, make(readLimit, feedPolls), make(readLimit, feedReads), make(readLimit, feedPages)}
}

func (f *feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := &request{r}
	err := in.checkQuery("after kind limit wait")
	var after report.Cursor
	if err == nil {
		after, err = in.cursor()
	}
	var limit int
	if err == nil {
		limit, err = in.limit()
	}
	var wait time.Duration
	if err == nil {
		wait, err = in.wait(feedLongest)
	}
	var page feedPage
	if err == nil {
		page, err = f.await(r.Context(), after, limit, wait)
	}
	// Others may wait for the memory of the page, so the client gets less time than the listener gives.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(clientTimeout))
	if err != nil {
		p := f.problem(err)
		if _, ours := errors.AsType[*Problem](err); !ours && p.Status == http.StatusServiceUnavailable && r.Context().Err() == nil {
			f.log.ErrorContext(r.Context(), "the feed of changes failed", "error", err)
		}
		writeProblem(w, p)
		return
	}
	defer page.free()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(page.text) // #nosec G705 -- JSON, which no browser takes for a page; the client asks again for what it did not get
}

func (f *feeds) problem(err error) *Problem {
	gone := func(reason, remedy string) *Problem {
		f.metrics.tooOld.Inc()
		return &Problem{Status: http.StatusGone, Reason: reason, Detail: "The feed cannot go on from here: " + err.Error() + ". Begin anew without after" + remedy + "."}
	}
	switch {
	case errors.Is(err, report.ErrCursorTooOld):
		return gone(ReasonCursorTooOld, ", and forget the documents that it does not tell")
	case errors.Is(err, report.ErrOtherFeed):
		return gone(ReasonOtherFeed, "; keep what it does not tell until the publisher has delivered again what may be lost")
	}
	return problemOf(err)
}

// feedPage is a page as JSON. It counts as one in memory until free is called.
type feedPage struct {
	text  []byte
	empty bool // there is nothing to tell yet
	free  func()
}

// await reads a page, and waits for one that is not empty.
func (f *feeds) await(ctx context.Context, after report.Cursor, limit int, wait time.Duration) (page feedPage, err error) {
	if wait > 0 {
		if !f.polls.try() {
			return page, &Problem{Status: http.StatusServiceUnavailable, Detail: fmt.Sprintf("%d calls wait for changes, and that is as many as may. Try again later, or without wait.", feedPolls)}
		}
		defer f.polls.free()
		f.metrics.polls.Inc()
		defer f.metrics.polls.Dec()
	}
	for end := time.Now().Add(wait); ; {
		committed := f.journal.Committed()
		page, err = f.read(ctx, after, limit)
		left := time.Until(end)
		if err != nil || !page.empty || left <= 0 {
			return page, err
		}
		select {
		case <-committed:
			left = min(left, feedPause) // what is committed in a burst comes together
		case <-time.After(min(left, feedLook)):
			continue
		case <-f.ends:
			return page, nil
		case <-ctx.Done():
			return page, ctx.Err()
		}
		select {
		case <-time.After(left):
		case <-f.ends:
		case <-ctx.Done():
		}
	}
}

// read reads a page. An empty one takes no memory that counts.
func (f *feeds) read(ctx context.Context, after report.Cursor, limit int) (p feedPage, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errReadsBusy)
	defer cancel()
	p.free = func() {}
	if err := f.pages.take(ctx); err != nil {
		return p, err
	}
	defer func() {
		if err != nil || p.empty {
			f.pages.free()
		} else {
			p.free = f.pages.free
		}
	}()
	if err := f.reads.take(ctx); err != nil {
		return p, err
	}
	defer f.reads.free()
	page, err := f.feed(ctx, after, limit)
	if errors.Is(err, report.ErrLossOpen) {
		return p, &Problem{Status: http.StatusServiceUnavailable, Reason: ReasonLossOpen, Detail: "The feed does not begin: " + report.ErrLossOpen.Error() + "."}
	}
	if err != nil {
		return p, err
	}
	text := []byte(`{"items":[`)
	for i, r := range page.Changes {
		if i > 0 {
			text = append(text, ',')
		}
		text = exportline.AppendVersion(text, r)
		f.metrics.told.WithLabelValues(string(r.Kind)).Inc()
	}
	p.text = fmt.Appendf(text, `],"next":%q,"more":%t}`+"\n", page.Next, page.More)
	p.empty = len(page.Changes) == 0 && !page.More
	return p, nil
}

// feed reads changes of the journal. In the first moments after a start, it waits until they were
// compared with the indices: a journal that was set back may lack what the feed has told. A cursor
// that is ahead of it needs no comparison.
func (f *feeds) feed(ctx context.Context, after report.Cursor, limit int) (report.FeedPage, error) {
	select {
	case <-f.compared:
	default:
		if page, err := f.journal.Feed(ctx, after, limit, feedPageBytes); err != nil {
			return page, err
		}
		select {
		case <-f.compared:
		case <-f.ends:
			return report.FeedPage{}, errNotCompared
		case <-ctx.Done():
			return report.FeedPage{}, errNotCompared
		}
	}
	return f.journal.Feed(ctx, after, limit, feedPageBytes)
}

var errNotCompared = &Problem{Status: http.StatusServiceUnavailable,
	Detail: "riskdex has just started, and has not compared the journal with the indices yet: one that was set back may lack what the feed has told. Try again later."}

// cursor returns where the feed is to go on. kind may name several, separated by commas, and
// has to be that of the cursor.
func (r *request) cursor() (c report.Cursor, err error) {
	var kinds []report.Kind
	for name := range strings.SplitSeq(cmp.Or(r.text("kind"), "cities,advisories,special-reports"), ",") {
		kind, err := report.ParseKind(name)
		if err != nil {
			return c, badRequest(fmt.Sprintf("Say which kinds in the query: %v.", err))
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if r.text("after") == "" {
		return report.Cursor{Kinds: kinds}, nil
	}
	if c, err = report.ParseCursor(r.text("after")); err != nil {
		return c, badRequest("after: " + err.Error() + ".")
	}
	slices.Sort(kinds)
	if r.text("kind") != "" && !slices.Equal(kinds, slices.Sorted(slices.Values(c.Kinds))) {
		return c, badRequest("The cursor in after is of other kinds than the query names: leave kind out, or begin anew.")
	}
	return c, nil
}

// wait returns the seconds in the query, up to longest.
func (r *request) wait(longest time.Duration) (time.Duration, error) {
	n, err := r.number("wait")
	if err == nil && n > int64(longest.Seconds()) {
		err = badRequest("wait is " + strconv.FormatInt(n, 10) + " in the query, and may be up to " + strconv.Itoa(int(longest.Seconds())) + " seconds.")
	}
	return time.Duration(n) * time.Second, err
}

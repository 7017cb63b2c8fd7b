package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/report"
)

// keepAlive is how long Elasticsearch keeps a snapshot between two pages, where a repair
// waits.
const keepAlive = "10m"

// page is some documents of a snapshot.
type page struct {
	ids         []report.ID
	done, total int // documents of the snapshot up to the last of these, and in all
}

// walk passes the documents that the index has at the start to visit, page by page. It fails
// rather than skip any.
func (r *verification) walk(ctx context.Context, phase string, visit func(context.Context, []report.ID) error) error {
	s, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer func() { r.close(ctx, s) }()
	next := func(ctx context.Context) (page, bool, error) {
		ids, err := r.next(ctx, s)
		return page{ids, s.done, s.total}, len(ids) > 0, err
	}
	return eachPage(ctx, next, func(p page) error {
		if err := visit(ctx, p.ids); err != nil {
			return err
		}
		r.report.Indexed = p.total
		r.progress(report.VerifyProgress{Phase: phase, Done: p.done, Total: p.total})
		return nil
	})
}

// open refreshes the index and takes a snapshot.
func (r *verification) open(ctx context.Context) (*snapshot, error) {
	err := r.ask(ctx, "refreshing the index", func(ctx context.Context) error { return r.client.Refresh(ctx, r.alias) })
	if err != nil {
		return nil, err
	}
	s := &snapshot{}
	return s, r.ask(ctx, "opening a snapshot", func(ctx context.Context) error {
		text, err := r.client.Ask(ctx, esapi.OpenPointInTimeRequest{Index: []string{r.alias}, KeepAlive: keepAlive}, elastic.Opened)
		if err != nil {
			return err
		}
		var body struct {
			ID string `json:"id"`
		}
		err = json.Unmarshal(text, &body)
		s.id = body.ID
		return err
	})
}

// close releases the snapshot in Elasticsearch, which otherwise expires after keepAlive.
func (r *verification) close(ctx context.Context, s *snapshot) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	body, _ := json.Marshal(map[string]string{"id": s.id})
	_, _ = r.client.Ask(ctx, esapi.ClosePointInTimeRequest{Body: bytes.NewReader(body)}, elastic.Closed)
}

// next returns the ids of the next page, or none at the end.
func (r *verification) next(ctx context.Context, s *snapshot) ([]report.ID, error) {
	if s.after != nil && s.done == s.total {
		return nil, nil
	}
	search := map[string]any{
		"size": r.cfg.Page, "_source": false, "track_total_hits": s.after == nil,
		"sort": []string{"_shard_doc"}, "pit": map[string]string{"id": s.id, "keep_alive": keepAlive},
	}
	if s.after != nil {
		search["search_after"] = s.after
	}
	body, err := json.Marshal(search)
	if err != nil {
		return nil, err
	}
	partial := false
	var ids []report.ID
	err = r.ask(ctx, "reading a snapshot", func(ctx context.Context) error {
		_, err := r.client.Ask(ctx, esapi.SearchRequest{
			Body: bytes.NewReader(body), AllowPartialSearchResults: &partial,
			FilterPath: []string{"pit_id", "timed_out", "_shards", "hits.total", "hits.hits._id", "hits.hits.sort", "error"},
		}, func(answer []byte) (err error) {
			if err = elastic.Searched(answer); err == nil {
				ids, err = s.read(answer, r.cfg.Page)
			}
			return err
		})
		return err
	})
	if refused, ok := errors.AsType[*Error](err); ok && refused.status == http.StatusNotFound {
		refused.Reason = reasonSnapshot
	}
	return ids, err
}

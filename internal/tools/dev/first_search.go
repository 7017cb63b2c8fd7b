package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func (r *stack) push(ctx context.Context) error {
	r.say("pushing the sample feed")
	if err := r.command(ctx, r.binary, "push", "--to", r.receiver()).Run(); err != nil {
		return fmt.Errorf("push the sample feed: %w", err)
	}
	return nil
}

// settled waits until Elasticsearch has everything.
func (r *stack) settled(ctx context.Context) error {
	started := time.Now()
	foreign := false
	err := r.await(ctx, "everything to be in the index", func() bool {
		held, _ := r.metric("riskdex_held", `reason="another_journal"`)
		pending, known := r.metric("riskdex_changes_pending")
		foreign = held > 0
		return foreign || known && pending == 0
	})
	if foreign {
		return fmt.Errorf("another journal fills the indices, as it does when %s was deleted and the data of Elasticsearch at %s was not: "+
			"put that journal back, or delete that data as well, or begin in indices of its own with RISKDEX_INDEX_PREFIX=…", shown(r.journal), r.url)
	}
	if err == nil {
		r.say("everything is in the index, %.1f s after the last delivery", time.Since(started).Seconds())
	}
	return err
}

// firstSearch finds firstAnswer, which is in the sample feed, although it lacks the diacritic.
const firstSearch, firstAnswer = "sao paulo", "São Paulo"

// search waits until the first search finds what was pushed, which takes a refresh of the
// index, and shows it.
func (r *stack) search(ctx context.Context) error {
	err := r.await(ctx, "a search to find "+firstAnswer, func() bool {
		cmd := r.command(ctx, r.binary, "search", "--json", "--size=1", "--elasticsearch-url="+r.url, firstSearch)
		cmd.Stdout, cmd.Stderr = nil, nil
		hit, err := cmd.Output()
		return err == nil && strings.Contains(string(hit), `"title":"`+firstAnswer+`"`)
	})
	if err != nil {
		return err
	}
	r.say("\n$ riskdex search %s", firstSearch)
	if err := r.command(ctx, r.binary, "search", "--size=3", "--elasticsearch-url="+r.url, firstSearch).Run(); err != nil {
		return fmt.Errorf("search for %s: %w", firstSearch, err)
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"riskdex/elastic"
	"riskdex/internal/address"
	"riskdex/journal"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// supported are the major versions of Elasticsearch that riskdex supports.
var supported = []string{"8", "9"}

// elasticsearch checks that the server has what riskdex will need. It changes nothing there.
func (k *checker) elasticsearch(ctx context.Context, found journal.Inspection) {
	client, err := k.c.client()
	if k.failed("elasticsearch", err) {
		return
	}
	set, err := k.c.mappings()
	if k.failed("mappings", err) {
		return
	}
	e := &serverCheck{checker: k, client: client, indices: &indices.Indices{
		Client: client, Prefix: k.c.IndexPrefix, Set: set, Lineage: found.Line, Log: slog.New(slog.DiscardHandler),
	}}
	if !e.reach(ctx) {
		return
	}
	e.privileges(ctx)
	e.server(ctx)
	e.settings(ctx)
	e.disks(ctx)
	var searched []string
	for _, kind := range e.kinds() {
		if e.index(ctx, kind, found) && kind != report.Probe {
			searched = append(searched, e.indices.Alias(kind))
		}
	}
	e.searches(ctx, searched)
}

// serverCheck is a checker with an Elasticsearch to ask.
type serverCheck struct {
	*checker
	client  *elastic.Client
	indices *indices.Indices
}

// kinds returns the kinds that have an index.
func (e *serverCheck) kinds() []report.Kind {
	if e.c.ProbeEvery != 0 {
		return report.AllKinds()
	}
	return report.Kinds()
}

// ask makes a request and decodes the answer into v. The body of the response that it returns
// has been read.
func (e *serverCheck) ask(ctx context.Context, method, path string, body, v any) (res *http.Response, err error) {
	request := elastic.Request{Method: method, Path: path, Seen: func(r *http.Response) { res = r }}
	if body != nil {
		if request.Body, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	text, err := e.client.Ask(ctx, request, elastic.Readable)
	if detail, ok := errors.AsType[*url.Error](err); ok {
		err = detail.Err // the rest repeats the URL, with what is secret in it
	}
	if err != nil {
		return res, err
	}
	return res, json.Unmarshal(text, v)
}

// couldNotAsk notes that something could not be asked, at most for want of a privilege.
func (e *serverCheck) couldNotAsk(what string, err error) {
	e.note("elasticsearch", doubtful, fmt.Sprintf("%s: %v", what, err), "This needs the cluster privilege monitor.")
}

// reach reports whether Elasticsearch answers and accepts the credentials.
func (e *serverCheck) reach(ctx context.Context) bool {
	server := redacted(e.c.ElasticsearchURL)
	var health []struct {
		Epoch  string `json:"epoch"`
		Status string `json:"status"`
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // one that hangs is told soon
	defer cancel()
	asked := e.now()
	res, err := e.ask(ctx, http.MethodGet, "/_cat/health?format=json&h=epoch,status", nil, &health)
	took := e.now().Sub(asked)
	refused, answered := errors.AsType[*elastic.ResponseError](err)
	switch {
	case answered && refused.Status == http.StatusUnauthorized:
		e.note("elasticsearch", wrong, fmt.Sprintf("%s rejects these credentials: %v", server, err),
			"Correct --elasticsearch-api-key-file, or --elasticsearch-user and --elasticsearch-password-file.")
		return false
	case answered && refused.Status == http.StatusForbidden: // which privilege is missing is said below
		e.fine("elasticsearch", "%s answers", server)
		return true
	case err != nil:
		e.note("elasticsearch", wrong, fmt.Sprintf("no answer from an Elasticsearch at %s: %v", server, err), "Start Elasticsearch, or correct --elasticsearch-url, --elasticsearch-ca-file or the network in between.")
		return false
	}
	e.fine("elasticsearch", "%s answers", server)
	if len(health) > 0 && health[0].Status == "red" {
		e.note("elasticsearch", doubtful, "its health is red: some primary shards are missing", "GET _cluster/allocation/explain says why.")
	}
	if res.TLS != nil && len(res.TLS.PeerCertificates) > 0 {
		e.expiry("elasticsearch", "its certificate", res.TLS.PeerCertificates[0])
	}
	e.clusters(ctx)
	e.plain()
	e.clock(res, asked, took, health[0].Epoch)
	return true
}

// plain notes if credentials are sent over a network unencrypted.
func (e *serverCheck) plain() {
	u, err := address.Parse(e.c.ElasticsearchURL, "")
	shown := e.c.SignIn.User != "" || e.c.SignIn.APIKeyFile != "" || err == nil && u.User != nil
	if err == nil && u.Scheme == "http" && shown && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()) {
		e.note("elasticsearch", doubtful, "its credentials are sent over plain HTTP", "Use https://.")
	}
}

// mostSkew is how far the clocks may differ before that is noted. Versions come from this
// machine's clock.
const mostSkew = 10 * time.Second

// clock compares the clocks by the Date of the answer, which proxies set, or else by the
// epoch in Elasticsearch's answer. Both are in whole seconds.
func (e *serverCheck) clock(res *http.Response, asked time.Time, took time.Duration, epoch string) {
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return
		}
		there = time.Unix(seconds, 0)
	}
	skew := asked.Add(took / 2).Sub(there)
	if skew.Abs() > mostSkew+took {
		how := "ahead of"
		if skew < 0 {
			how = "behind"
		}
		e.note("clock", doubtful, fmt.Sprintf("this machine's clock is %v %s that of Elasticsearch", skew.Abs().Round(time.Second), how),
			"Have both follow NTP: versions and times of deliveries come from this clock.")
		return
	}
	e.fine("clock", "agrees with that of Elasticsearch")
}

// privileges checks the privileges that riskdex needs.
func (e *serverCheck) privileges(ctx context.Context) {
	var has struct {
		Username string                     `json:"username"`
		All      bool                       `json:"has_all_requested"`
		Cluster  map[string]bool            `json:"cluster"`
		Index    map[string]map[string]bool `json:"index"`
	}
	needs := e.indices.Privileges(e.kinds())
	_, err := e.ask(ctx, http.MethodPost, "/_security/user/_has_privileges", needs, &has)
	refused, answered := errors.AsType[*elastic.ResponseError](err)
	switch {
	case answered && refused.Status == http.StatusBadRequest && strings.Contains(refused.Reason, "no handler found"):
		e.fine("privileges", "Elasticsearch has security turned off: whoever reaches it may do anything")
		return
	case err != nil:
		e.couldNotAsk("cannot ask for the privileges", err)
		return
	case has.All:
		e.fine("privileges", "%s has all that riskdex needs", has.Username)
		return
	}
	for _, one := range needs.Cluster {
		if !has.Cluster[one] {
			e.note("privileges", wrong, fmt.Sprintf("%s lacks the cluster privilege %s", has.Username, one), "Add it to the role of that user or API key.")
		}
	}
	for _, of := range needs.Index {
		for _, name := range of.Names {
			lacks := slices.DeleteFunc(slices.Clone(of.Privileges), func(one string) bool { return has.Index[name][one] })
			if len(lacks) > 0 {
				e.note("privileges", wrong, fmt.Sprintf("%s lacks %s on %s", has.Username, strings.Join(lacks, ", "), name), "Add these index privileges on "+name+" to its role.")
			}
		}
	}
}

// server checks the versions of the nodes, and how large a request may be.
func (e *serverCheck) server(ctx context.Context) {
	var nodes struct {
		Nodes map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			HTTP    struct {
				Most int64 `json:"max_content_length_in_bytes"`
			} `json:"http"`
			JVM struct {
				Memory struct {
					Heap int64 `json:"heap_max_in_bytes"`
				} `json:"mem"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if _, err := e.ask(ctx, http.MethodGet, "/_nodes/http,jvm?filter_path=nodes.*.name,nodes.*.version,nodes.*.http.max_content_length_in_bytes,nodes.*.jvm.mem.heap_max_in_bytes", nil, &nodes); err != nil {
		e.couldNotAsk("cannot ask for its version and limits", err)
		return
	}
	versions, least := []string{}, int64(0)
	for _, n := range nodes.Nodes {
		if !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
		if least == 0 || n.HTTP.Most > 0 && n.HTTP.Most < least {
			least = n.HTTP.Most
		}
	}
	slices.Sort(versions)
	for _, v := range versions {
		if major, _, _ := strings.Cut(v, "."); !slices.Contains(supported, major) {
			e.note("version", wrong, "Elasticsearch "+v, "Use Elasticsearch "+strings.Join(supported, " or ")+".")
			return
		}
	}
	e.fine("version", "Elasticsearch %s on %s", strings.Join(versions, ", "), count(len(nodes.Nodes), "node", "nodes"))
	body := int64(e.c.MaxBody)
	if least > 0 && least < body {
		e.note("limits", doubtful, fmt.Sprintf("Elasticsearch takes requests of %s at most (http.max_content_length), and --max-body is %s: a larger document becomes a dead letter",
			humanize.IBytes(uint64(least)), humanize.IBytes(uint64(body))), "Raise http.max_content_length, or lower --max-body.")
	} else if least > 0 {
		e.fine("limits", "Elasticsearch takes requests of up to %s, and --max-body is %s", humanize.IBytes(uint64(least)), humanize.IBytes(uint64(body)))
	}
}

// clustersLooks is how often a check asks which cluster answers a new connection: one of two that a
// balancer chooses by chance stays unseen by one check of 500.
const clustersLooks = 10

// clusters finds out whether the address leads to several clusters.
func (e *serverCheck) clusters(ctx context.Context) {
	places := map[string]bool{}
	for range clustersLooks {
		if place, err := e.indices.Place(ctx); err == nil && place != "" {
			places[strings.TrimSuffix(place, "/"+e.indices.Prefix)] = true
		}
	}
	if len(places) > 1 {
		e.note("elasticsearch", wrong, fmt.Sprintf("the address leads to %d clusters by turns: %s", len(places), strings.Join(slices.Sorted(maps.Keys(places)), " and ")),
			"Have the address lead to one cluster: correct the balancer, or the name.")
	}
}

// settings looks for blocks of the whole cluster, and for its limit of shards.
func (e *serverCheck) settings(ctx context.Context) {
	type flat map[string]any
	var all struct {
		Persistent, Transient, Defaults flat
	}
	if _, err := e.ask(ctx, http.MethodGet, "/_cluster/settings?include_defaults=true&flat_settings=true&filter_path=*.cluster*", nil, &all); err != nil {
		e.couldNotAsk("cannot ask for its settings", err)
		return
	}
	value := func(name string) string {
		for _, from := range []flat{all.Transient, all.Persistent, all.Defaults} {
			if v, ok := from[name]; ok {
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	for _, block := range []string{"cluster.blocks.read_only", "cluster.blocks.read_only_allow_delete"} {
		if value(block) == "true" {
			e.note("limits", wrong, "Elasticsearch is read-only ("+block+")", "Make room on its disks, if they are full, and set "+block+" to null.")
		}
	}
	var health struct {
		Shards int `json:"active_shards"`
		Nodes  int `json:"number_of_data_nodes"`
	}
	most, err := strconv.Atoi(value("cluster.max_shards_per_node"))
	if err != nil {
		return
	}
	if _, err := e.ask(ctx, http.MethodGet, "/_cluster/health", nil, &health); err != nil || health.Nodes == 0 {
		return
	}
	if needs := 2 * len(e.kinds()); health.Shards+needs > most*health.Nodes { // a rebuild needs a second index
		e.note("limits", doubtful, fmt.Sprintf("Elasticsearch has %d shards and may have %d (cluster.max_shards_per_node): new indices, including those of rebuilds, may be refused", health.Shards, most*health.Nodes),
			"Delete indices, add a node, or raise cluster.max_shards_per_node.")
	}
}

// disks checks the disks of Elasticsearch, which makes indices read-only when its disks are
// nearly full.
func (e *serverCheck) disks(ctx context.Context) {
	const full = 85 // percent; from here on Elasticsearch allocates no more shards to the node
	var disks []struct {
		Node    string  `json:"node"`
		Percent *string `json:"disk.percent"`
		Left    *string `json:"disk.avail"`
	}
	if _, err := e.ask(ctx, http.MethodGet, "/_cat/allocation?format=json&h=node,disk.percent,disk.avail", nil, &disks); err != nil {
		return // the privilege monitor is missing, which has been noted
	}
	for _, d := range disks {
		if d.Percent == nil || d.Left == nil {
			continue
		}
		if percent, err := strconv.Atoi(*d.Percent); err == nil && percent >= full {
			e.note("limits", doubtful, fmt.Sprintf("the disk of node %s is %d%% full, with %s left; past 95%% its indices become read-only", d.Node, percent, *d.Left), "Make room on it.")
		}
	}
}

// searches makes the searches of apps.
func (e *serverCheck) searches(ctx context.Context, aliases []string) {
	if len(aliases) == 0 {
		return
	}
	if err := e.indices.TrySearches(ctx, aliases...); err != nil {
		e.note("search", wrong, fmt.Sprintf("searches of apps fail: %v", err), searchFailure(e.now(), err).Remedy())
		return
	}
	e.fine("search", "the searches of apps are answered by %s", strings.Join(aliases, ", "))
}

// index checks the alias and the index of a kind. It reports whether apps can search that with the
// bodies of these mappings, as far as it knows.
func (e *serverCheck) index(ctx context.Context, kind report.Kind, found journal.Inspection) (usable bool) {
	about := "index"
	alias := e.indices.Alias(kind)
	i, err := e.indices.Inspect(ctx, kind)
	if err != nil {
		e.note(about, doubtful, err.Error(), "")
		return false
	}
	switch {
	case e.known && !found.Exists && i.Line != "":
		e.note(about, wrong, fmt.Sprintf("%s is filled from another journal, and %s does not exist", i.Index, e.c.Journal),
			"Name the right journal, or restore its backup. If a new one is to fill it: riskdex rebuild --take-over, once serve runs.")
		return false
	case found.Line != "" && i.Line != "" && i.Line != found.Line:
		e.note(about, wrong, fmt.Sprintf("%s is filled from another journal", i.Index),
			"Name the right journal, or restore its backup; give this one another --index-prefix; or, if it is to fill the index from now on: riskdex rebuild --take-over, once serve runs.")
		return false
	case i.Wrong != nil:
		e.note(about, wrong, i.Wrong.Detail, i.Wrong.Remedy)
		return false
	case i.Index == "":
		e.fine(about, "%s does not exist yet; serve creates it", alias)
		return false
	}
	if blocked := e.blocked(ctx, alias); blocked != "" {
		e.note(about, wrong, fmt.Sprintf("%s %s", i.Index, blocked), "Undo that in Elasticsearch; docs/operations.md says how, by reason.")
		return false
	}
	documents := 0
	if result, err := indices.Search(ctx, e.client, []string{alias}, []byte(countBody)); err == nil {
		documents = result.Total
	}
	has := count(documents, "document", "documents")
	switch {
	case kind != report.Probe && found.Exists && found.Empty && documents > 0:
		e.note(about, doubtful, fmt.Sprintf("%s has %s, and the journal has none", i.Index, has), "Name the right journal, or restore its backup, or have everything delivered again.")
	case kind != report.Probe && i.Line == "" && documents > 0:
		e.note(about, wrong, fmt.Sprintf("%s has %s, and does not say which journal fills it: somebody else made it, or has replaced the _meta of its mapping", i.Index, has),
			"Keep what you need of it. To have the journal's documents in its place: riskdex rebuild --take-over, once serve runs.")
	case !i.Ours:
		e.note(about, doubtful, fmt.Sprintf("%s is not the index that riskdex left: it was restored or copied, or is new to riskdex", i.Index), "Serve sends every document to it at the start. If this is intended, there is nothing to do.")
	case i.Changed:
		e.note(about, doubtful, fmt.Sprintf("%s was made from another mapping", i.Index), "Serve rebuilds it at the start, and search goes on meanwhile. If this is intended, there is nothing to do.")
	default:
		e.fine(about, "%s is %s, with %s", alias, i.Index, has)
	}
	return !i.Changed
}

// blocked returns what keeps an index from being written, or an empty string.
func (e *serverCheck) blocked(ctx context.Context, alias string) string {
	var all map[string]struct {
		Settings map[string]any `json:"settings"`
	}
	_, err := e.ask(ctx, http.MethodGet, "/"+url.PathEscape(alias)+"/_settings?flat_settings=true&expand_wildcards=all&filter_path=*.settings.index*", nil, &all)
	if err != nil {
		e.couldNotAsk("cannot ask for the settings of "+alias, err)
		return ""
	}
	for _, index := range all {
		if index.Settings["index.verified_before_close"] == "true" {
			return "is closed"
		}
		for name, value := range index.Settings {
			if strings.HasPrefix(name, "index.blocks.") && value == "true" && !strings.HasSuffix(name, ".metadata") {
				return "is blocked by " + name
			}
		}
	}
	return ""
}

package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"riskdex/internal/logsink"
	"riskdex/report"
)

// Trouble is something that somebody should look after.
type Trouble struct {
	What     string      `json:"what"` // the name of a Cause
	Kind     report.Kind `json:"kind,omitempty"`
	Severity Severity    `json:"severity"`
	Detail   string      `json:"detail"` // what is wrong: a sentence for people
	Remedy   string      `json:"remedy"` // what to do
	Alert    string      `json:"alert"`  // the alert about it, which is also the section of the runbook
}

// Severity says how soon somebody should look after a trouble. It is the severity of its
// alert.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // now
	Warning  Severity = "warning"  // within the next working hours
)

// Cause is one thing that may be wrong. The status, the page and the exit status of riskdex
// status know no other troubles, and docs/operations.md lists the same ones.
type Cause struct {
	Name     string // for programs
	Severity Severity
	Within   time.Duration // the longest time until the status shows it
	Message  string        // with {placeholders}
	Remedy   string        // with {placeholders}
	Alert    string
}

// The names of the causes.
const (
	TroubleJournal        = "journal_unreadable"
	TroubleNotAccepting   = "not_accepting"
	TroubleNotFollowing   = "not_following"
	TroubleCertificate    = "certificate_expires"
	TroubleNotRenewed     = "certificate_not_renewed"
	TroubleLost           = "changes_lost"
	TroubleElasticsearch  = "elasticsearch_away"
	TroubleClusters       = "several_clusters"
	TroubleSearch         = "search_fails"
	TroubleAnotherJournal = "another_journal"
	TroubleAlias          = "alias_wrong"
	TroubleLacking        = "journal_lacks_documents"
	TroubleHeld           = "index_held"
	TroubleIncomplete     = "index_incomplete"
	TroubleMissing        = "documents_missing"
	TroubleNotSearchable  = "not_searchable"
	TroubleKindHeld       = "kind_held"
	TroubleLag            = "lagging"
	TroubleClock          = "clock_behind"
	TroubleClockDiffers   = "clock_differs"
	TroubleRebuild        = "rebuild_failed"
	TroubleDiffers        = "index_differs"
	TroubleDeadLetters    = "dead_letters"
	TroubleFields         = "fields_missing"
	TroubleSilent         = "silent"
	TroubleRefusing       = "refusing"
	TroubleTurnedAway     = "turned_away"
	TroubleUnknownCalls   = "unknown_calls"
	TroubleBackup         = "backup_overdue"
	TroubleLogUnread      = "log_unread"
)

// RefusedBound is how long a refusal is a trouble that names no document, so that no later
// delivery could clear it. Its alert fires for as long.
const RefusedBound = 30 * time.Minute

// FailedBound is how long a delivery that was answered with 5xx is a trouble once others are accepted
// again: only the publisher has it, and whether it comes again is not known. Its alert fires for as long.
const FailedBound = 10 * time.Minute

// LagBound is the largest lag that is not a trouble.
const LagBound = time.Minute

// FollowBound is how long the riskdex that is followed may be away, such as for a restart.
const FollowBound = time.Minute

// FutureBound is how far the acceptance of a waiting change may be ahead of the clock,
// because the clocks of several machines differ.
const FutureBound = time.Minute

// SearchBound is how long the search that apps make must have failed, at every try, to be a
// trouble. Before that, the next try of an app may well be answered.
const SearchBound = 5 * time.Second

// LogBound is how long the log may take no line as it comes before that is a trouble.
const LogBound = 10 * time.Second

// clockForm is the format of times in messages.
const clockForm = "2006-01-02 15:04:05 MST"

// lookEvery is how often the indexer checks each index, whatever else it does, and how
// often the prober searches unless --probe-every says otherwise.
const lookEvery = 15 * time.Second

// Causes returns everything that may be wrong, worst first.
func Causes() []Cause { return slices.Clone(causes) }

const renewRemedy = "Replace the files of `--tls-cert-file` and `--tls-key-file`, which a running riskdex rereads, and repair what renews them."

var causes = []Cause{
	{
		TroubleJournal, Critical, statusTimeout,
		"The journal cannot be read, so it is not known what waits and what failed: {error}.",
		"Check the disk of the journal, or the PostgreSQL server and the network to it.",
		"RiskdexJournalUnreadable",
	},
	{
		TroubleNotAccepting, Critical, 5 * time.Second,
		"Deliveries are answered with 503: {reason}.",
		"Fix the reason. What was answered with 503 is not in the journal: the publisher has to deliver it again.",
		"RiskdexNotAccepting",
	},
	{
		TroubleNotFollowing, Critical, FollowBound + time.Minute, // the longest time of a request
		"The riskdex that is followed, at {from}, cannot be followed since {time}: {error}. Searches lack what was delivered there since.",
		"Do what the reason says; otherwise bring that riskdex back, or the network to it, or correct `--follow`. It then goes on by itself.",
		"RiskdexNotFollowing",
	},
	{
		TroubleCertificate, Critical, time.Second,
		"The certificate of the listener for deliveries has not been replaced, and expires at {time}: from then on, no publisher who checks it can deliver.",
		renewRemedy,
		"RiskdexCertificateExpires",
	},
	{
		TroubleLost, Critical, time.Second,
		"Changes that were acknowledged {span} may be missing: the journal was set back, is damaged, or a copy of it runs beside it and fills the same indices. " +
			"Only what is delivered from now on is sent.",
		"Stop the copy, or put the newer state back, if there is one. Otherwise ask the publisher to deliver again what it sent in that time, deletes too; " +
			"only then: `riskdex journal acknowledge-loss`.",
		"RiskdexChangesLost",
	},
	{
		TroubleElasticsearch, Critical, lookEvery + time.Minute, // the longest time of a request
		"Elasticsearch did not answer the last request ({error}). Deliveries are accepted and kept, and are sent when it is back.",
		reachElasticsearch + ". If its certificate is refused, give it a valid one.",
		"RiskdexElasticsearchAway",
	},
	{
		TroubleClusters, Critical, lookEvery,
		"The address of Elasticsearch leads to several clusters by turns, or those of processes with this journal to different ones, the last time at {time}: {clusters}. Each has only a part of what was delivered, and apps find that part.",
		"Have every address lead to one cluster: correct the balancer, the name, or the settings of a process. Until then riskdex refuses to rebuild. Ten minutes later riskdex sends everything to that one, and this ends.",
		"RiskdexSeveralClusters",
	},
	{
		TroubleSearch, Critical, lookEvery + 10*time.Second, // the longest time of a search
		"Search fails for apps, since {time}: {error}.",
		"{what to do, by reason}. Then try `riskdex check`, which makes the same searches.",
		"RiskdexSearchFails",
	},
	{
		TroubleAnotherJournal, Critical, lookEvery,
		"This journal does not fill {indices}: {why}. Deliveries are accepted and wait.",
		"If this is the wrong journal: start riskdex with the right one, or its backup. " +
			"If two riskdex are to run side by side: give this one another `--index-prefix`. " +
			"If this journal is to fill the indices from now on: `riskdex rebuild --take-over`, which puts new ones in their place; " +
			"keep first what only they have.",
		"RiskdexIndexHeld",
	},
	{
		TroubleAlias, Critical, lookEvery,
		"Apps that search {kind} do not find what the journal has: {what the alias leads to}.",
		"Put it right in Elasticsearch: `{the request}`.",
		"RiskdexAliasWrong",
	},
	{
		TroubleLacking, Critical, 30 * time.Second,
		"Of {kind} the journal has {known} documents, and the index has {indexed}: another journal has filled it, or this is an old backup. " +
			"This journal cannot rebuild the index, and does not know what was deleted since.",
		"If this is the wrong journal: start riskdex with the right one, or its newest backup " +
			"(and run `riskdex rebuild --take-over` if another journal fills the index by then). If this one is to go on: ask the publisher to deliver " +
			"everything again, then remove the rest with `riskdex verify --repair --remove-foreign`.",
		"RiskdexJournalLacksDocuments",
	},
	{
		TroubleHeld, Critical, lookEvery,
		"Nothing can be written to the index {index}: {reason}.",
		"{what to do, by reason}. It then goes on by itself.",
		"RiskdexIndexHeld",
	},
	{
		TroubleIncomplete, Critical, lookEvery,
		"The index of {kind} is being filled, because it was lost, replaced or made anew, with {number} still to be sent. A search finds {found}.",
		"It fills by itself; `riskdex status --watch` shows how far it is. If the number does not fall, fix the other troubles or give Elasticsearch capacity. " +
			"If nobody meant to remove the index, find out who did.",
		"RiskdexIndexIncomplete",
	},
	{
		TroubleMissing, Critical, 2 * time.Minute, // what journal and index have is compared every minute while all is well, and then thrice
		"Searches do not find {number} of {kind}, at least, which Elasticsearch has taken: they were deleted there, {by whom}.",
		"`riskdex verify --repair {kind}` sends them again. Find out who deleted them, such as a clean-up job with too wide a pattern.",
		"RiskdexIndexDiffers",
	},
	{
		TroubleNotSearchable, Critical, LagBound,
		"No search has found the probe document of riskdex for {time}: {why}.",
		"{what to do, by reason}. " +
			"The other indices may have the same trouble.",
		"RiskdexNotSearchable",
	},
	{
		TroubleKindHeld, Warning, LagBound,
		"The process {holder} has locked {kind}, such as for a rebuild, and search has lacked a change of it for {time}.",
		"`riskdex status` of that process says what it does. If that hangs, stop it: another process takes over.",
		"RiskdexLagging",
	},
	{
		TroubleLag, Warning, LagBound,
		"Search has lacked a change of {kind} for {time}.",
		"Fix the other troubles. If there are none, it is load, and drains by itself.",
		"RiskdexLagging",
	},
	{
		TroubleClock, Warning, time.Second,
		"Waiting changes of {kind} were accepted {time} in the future, by the clock of this machine: the clock is behind, or was ahead. The lag is not known.",
		"Set the clock, and have NTP keep it. The changes are sent all the same, which ends this.",
		"RiskdexClockOff",
	},
	{
		TroubleClockDiffers, Warning, 2 * lookEvery, // a probe, and a search that finds it
		"The clock by which deliveries are accepted, of this machine or of PostgreSQL, is more than a minute {how} that of Elasticsearch.",
		"Set the clock that is wrong, and have NTP keep it. Signed deliveries are refused from five minutes on, and times in search and history are wrong.",
		"RiskdexClockOff",
	},
	{
		TroubleRebuild, Warning, time.Second,
		"The rebuild of {kind} failed at {time}: {reason}. Apps go on searching the old index, which stays up to date.",
		"Fix the reason and `riskdex rebuild {kind}`; or give it up: `riskdex rebuild --stop {kind}`.",
		"RiskdexRebuildFailed",
	},
	{
		TroubleDiffers, Warning, time.Second,
		"The index of {kind} differs from the journal in {number}, which a verification found at {time} and did not repair.",
		"`riskdex verify --repair {kind}` repairs them, or says why not. If they were repaired in another way: `riskdex verify {kind}`.",
		"RiskdexIndexDiffers",
	},
	{
		TroubleDeadLetters, Warning, time.Second,
		"Dead letters of {kind}: {number}. Elasticsearch refuses them, and search shows an older version of each, or none.",
		"`riskdex dead list` says why. Ask the publisher to correct them, or fix the mapping and `riskdex dead retry --all`.",
		"RiskdexDeadLetters",
	},
	{
		TroubleFields, Warning, lookEvery,
		"Of {number} of {kind}, {lacks}: riskdex does not find them in the records, and searches by them miss these reports.",
		"`riskdex mappings show {kind}` says how the records are read, and `riskdex history {kind} ID` whether they had these fields before: then ask the publisher to correct its feed and deliver again. " +
			"If the new form is meant, teach riskdex to read it: " +
			"`riskdex export {kind} > {kind}.jsonl`, `riskdex mappings learn {kind}.jsonl --to DIR`, add to DIR/{kind}.json where the fields are, " +
			"and start riskdex with `--mappings DIR`. Only if the feed never has them, that file says so: `\"without\": [{fields}]`.",
		"RiskdexFieldsMissing",
	},
	{
		TroubleSilent, Warning, time.Second,
		"Nothing of {kind or sender} was accepted since {time}, and something was expected by {then}: {why}.",
		"Ask the publisher whether it delivers, and see whether that arrives: the log says what is turned away (`request rejected`), and `riskdex refused list` what is refused. " +
			"After a long silence, ask for a full delivery. If it delivers less often than that: `--expect-every`.",
		"RiskdexSilent",
	},
	{
		TroubleTurnedAway, Warning, time.Second,
		"Deliveries were answered with 5xx until {time} ({reason}). They are not in the journal, and search lacks what the publisher has not delivered again.",
		"Ask the publisher to deliver again what was answered with 5xx, unless it repeats each by itself.",
		"RiskdexNotAccepting",
	},
	{
		TroubleRefusing, Warning, time.Second,
		"Deliveries or records of {kind} were refused, {which}. Search does not show them.",
		"`riskdex refused list` says why. Ask the publisher to correct and deliver them again, and only then drop what is left: `riskdex refused drop --all`.",
		"RiskdexRefusing",
	},
	{
		TroubleUnknownCalls, Warning, time.Second,
		"More than 20 requests within the last half hour were turned away ({reason}), the last within five minutes. If they are the publisher's, nothing of them is accepted.",
		"The log says where they come from (`request rejected`), and for unknown paths `riskdex refused list` for which. Correct the publisher's address or secret, and ask it to deliver again.",
		"RiskdexUnknownCalls",
	},
	{
		TroubleNotRenewed, Warning, time.Second,
		"The certificate of the listener for deliveries should have been replaced by {since}, and expires at {time}: what renews it has failed.",
		renewRemedy,
		"RiskdexCertificateExpires",
	},
	{
		TroubleBackup, Warning, time.Second,
		"No backup of the journal was made within `--backup-every` ({every}): {newest}.",
		"`riskdex backup FILE`, and find out why the scheduled backup failed.",
		"RiskdexBackupOverdue",
	},
	{
		TroubleLogUnread, Warning, LogBound,
		"Since {time} the log is not taken as it comes: {reason}. Dropped lines since the start: {number}.",
		"Have its reader go on, or make room for it. If the reader is gone, restart riskdex.",
		"RiskdexLogUnread",
	},
}

// reachElasticsearch is what to do about an Elasticsearch that does not answer.
const reachElasticsearch = "Try `curl -m 10 ELASTICSEARCH` on this machine. If it hangs or is refused: restart Elasticsearch, also where its process still runs, or bring back the network to it"

// held says what is wrong with an index that is held, and what to do, by the reason in the
// metrics.
var held = map[string]struct{ is, remedy string }{
	"index_blocked":    {"it is blocked", "Make room on Elasticsearch's disk if that is what set it (`read_only_allow_delete`); otherwise find out who did, and why. Then remove the block: `curl -X PUT ELASTICSEARCH/INDEX/_settings -H 'Content-Type: application/json' -d '{\"index.blocks.BLOCK\": null}'`"},
	"index_closed":     {"it is closed", "Find out who closed it, and open it: `curl -X POST ELASTICSEARCH/INDEX/_open`"},
	"index_missing":    {"it is gone", "Let riskdex make it again: it may lack the privilege"},
	"field_limit":      {"it has too many fields", "Raise `index.mapping.total_fields.limit`, or `riskdex rebuild KIND`"},
	"unauthorized":     {"Elasticsearch does not allow riskdex to", "Give riskdex the right credentials, or their user the privileges that it needs"},
	"pipeline_missing": {"it names an ingest pipeline that does not exist", "Make that pipeline again; or remove it from the settings of the index: set `index.default_pipeline` or `index.final_pipeline`, whichever names it, to null"},
	"answer_unclear":   {"the answers do not say that anything was done in it", "If shards failed, bring back their node. If a proxy is in between, see that it passes answers on as they are."},
	"request_refused":  {"the requests are refused", "If Elasticsearch rejects the mapping or a setting, correct that. If what answers is not Elasticsearch: check `--elasticsearch-url` and what is in between"},
}

// Remedy says what to do about a search that fails. What holds an index, and is not a mistake of its
// content, fails a search for the same reason.
func (f SearchFailure) Remedy() string { return plain(f.remedy() + ".") }

func (f SearchFailure) remedy() string {
	switch known := held[f.Reason]; {
	case f.Reason == "unreachable":
		return reachElasticsearch
	case f.Reason == "request_refused":
		return "If it names a setting of Elasticsearch, change that: searches need expensive queries, for typos and the starts of names. " +
			"Otherwise correct search.json or complete.json of --mappings"
	case known.remedy != "":
		return heldRemedy(report.Waiting{Index: cmp.Or(f.Index, "INDEX")}, known.remedy)
	}
	return "If Elasticsearch has just started, wait for its shards. Otherwise fix there what it says, such as by bringing back the node of a missing shard"
}

// foreignIndices returns the indices that this journal does not fill, the probe's last, and why it does
// not fill the first.
func foreignIndices(waiting []report.Waiting) (names []string, why string) {
	for _, probe := range []bool{false, true} {
		for _, w := range waiting {
			if w.Reason == ReasonAnotherJournal && (w.Kind == report.Probe) == probe {
				names, why = append(names, w.Index), cmp.Or(why, w.Detail)
			}
		}
	}
	return names, cmp.Or(why, "another journal does")
}

// more stands for further names in a message. It is short, so that the page has room for
// the remedy; the page lists each of them among the waiting indices.
func more(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", len(names))
}

// troubles collects what is wrong.
type troubles []Trouble

// add adds a trouble. values are pairs of a placeholder in its message or remedy and the
// value for it.
func (all *troubles) add(name string, kind report.Kind, values ...string) {
	c := causes[indexOf(name)]
	for i, v := range values {
		if i%2 == 0 {
			values[i] = "{" + v + "}"
		} else {
			values[i] = strings.TrimSuffix(v, ".") // the message has one
		}
	}
	fill := strings.NewReplacer(values...)
	*all = append(*all, Trouble{
		What: c.Name, Kind: kind, Severity: c.Severity, Alert: c.Alert,
		Detail: fill.Replace(plain(c.Message)), Remedy: plain(fill.Replace(c.Remedy)),
	})
}

// plain returns a text without the backquotes around what is to be copied, such as a command. At the
// end of the text no full stop follows it, which would be copied with it.
func plain(text string) string {
	if code, is := strings.CutSuffix(text, "`."); is {
		text = code
	}
	return strings.ReplaceAll(text, "`", "")
}

func indexOf(name string) int {
	return slices.IndexFunc(causes, func(c Cause) bool { return c.Name == name })
}

// evidence is what troubles are derived from, besides the status itself.
type evidence struct {
	unreadable  error         // why the journal could not be read, or nil
	turns       *report.Turns // if clusters answer by turns
	lacking     []report.Lacking
	incomplete  map[report.Kind]bool      // the index lacks a good part of what it had
	missing     map[report.Kind]int       // documents that the index has lost
	notes       map[string]string         // in the journal
	newest      map[report.Kind]time.Time // when the newest waiting change was accepted
	probe       *Probe
	certificate *Certificate
	refused     map[report.Kind]report.Refusal // the newest kept refusal
	failed      *report.Answered               // the last delivery with 5xx, if that is still a trouble

	refusedDocuments map[report.Kind]int // documents whose newest record was refused
	unknownCalls     string              // why many requests were turned away

	backupEvery time.Duration
	log         logsink.State
}

// counts reports whether what a search finds of a kind says something about its index.
func (st Status) counts(kind report.Kind) bool {
	return st.ElasticsearchUp && !slices.ContainsFunc(st.WrongAliases, func(w report.WrongAlias) bool { return w.Kind == kind })
}

// troublesOf returns the troubles of a status, worst first.
func troublesOf(st Status, ev evidence) []Trouble {
	all := troubles{}
	if ev.unreadable != nil {
		all.add(TroubleJournal, "", "error", ev.unreadable.Error())
	}
	lost := st.Journal != nil && st.Journal.Loss != nil
	counts := func(kind report.Kind) bool { return ev.turns == nil && st.counts(kind) }
	for _, l := range ev.lacking {
		if !counts(l.Kind) {
			continue
		}
		all.add(TroubleLacking, l.Kind, "kind", string(l.Kind), "known", fmt.Sprint(l.Known), "indexed", fmt.Sprint(l.Indexed))
	}
	if !st.Accepting {
		all.add(TroubleNotAccepting, "", "reason", st.CannotAccept)
	}
	if f := st.Follows; f != nil && !f.Failed.IsZero() && st.At.Sub(f.Failed) > FollowBound {
		all.add(TroubleNotFollowing, "", "from", f.From, "time", f.Failed.UTC().Format(clockForm), "error", f.Error)
	}
	switch c := ev.certificate; {
	case c == nil:
	case st.At.After(c.Urgent):
		all.add(TroubleCertificate, "", "time", c.Expires.UTC().Format(clockForm))
	case st.At.After(c.ReplaceBy):
		all.add(TroubleNotRenewed, "", "since", c.ReplaceBy.UTC().Format(clockForm), "time", c.Expires.UTC().Format(clockForm))
	}
	if lost {
		all.add(TroubleLost, "", "span", report.Loss{Since: st.Journal.Loss.Since, Until: st.Journal.Loss.Until}.Span())
	}
	if !st.ElasticsearchUp {
		all.add(TroubleElasticsearch, "", "error", whyAway(st.Waiting))
	}
	if ev.turns != nil {
		all.add(TroubleClusters, "", "time", ev.turns.At.Format(clockForm), "clusters", strings.Join(ev.turns.Places, " and "))
	}
	if f := st.SearchFails; f != nil && st.ElasticsearchUp && st.At.Sub(f.Since) >= SearchBound {
		all.add(TroubleSearch, "", "time", f.Since.UTC().Format(clockForm), "error", f.Detail, "what to do, by reason", f.remedy())
	}
	foreign, why := foreignIndices(st.Waiting)
	if len(foreign) > 0 {
		all.add(TroubleAnotherJournal, "", "indices", foreign[0]+more(foreign[1:]), "why", why)
	}
	for _, w := range st.WrongAliases {
		all.add(TroubleAlias, w.Kind, "kind", string(w.Kind), "what the alias leads to", w.Detail, "the request", w.Remedy)
	}
	for _, w := range st.Waiting {
		if w.Paused && w.Reason != ReasonAnotherJournal && w.Reason != TroubleAlias {
			known := held[w.Reason]
			all.add(TroubleHeld, w.Kind, "index", w.Index, "reason", heldReason(w, known.is), "what to do, by reason", heldRemedy(w, known.remedy))
		}
	}
	if p := ev.probe; p != nil && p.Unsearchable > LagBound && counts(report.Probe) && st.Accepting &&
		!slices.Contains(foreign, p.Index) {
		why, remedy := st.whyUnsearchable(*p)
		all.add(TroubleNotSearchable, "", "time", p.Unsearchable.Round(time.Second).String(), "why", why, "what to do, by reason", remedy)
	}
	if p := ev.probe; p != nil && p.Clock != 0 {
		how := "ahead of"
		if p.Clock < 0 {
			how = "behind"
		}
		all.add(TroubleClockDiffers, "", "how", how)
	}
	for _, k := range st.Kinds {
		if counts(k.Kind) && ev.incomplete[k.Kind] {
			all.add(TroubleIncomplete, k.Kind, "kind", string(k.Kind), "number", documents(k.Resending), "found", fmt.Sprint(*k.Documents))
		}
		if n := ev.missing[k.Kind]; n > 0 && counts(k.Kind) {
			whom := "and not by riskdex"
			if lost || len(report.AcknowledgedIn(ev.notes)) > 0 {
				whom = "not by riskdex, or by a delete that the journal lost when it was set back"
			}
			all.add(TroubleMissing, k.Kind, "kind", string(k.Kind), "number", documents(n), "by whom", whom)
		}
		if r := report.RebuildFailedIn(ev.notes, k.Kind); !r.At.IsZero() {
			all.add(TroubleRebuild, k.Kind, "kind", string(k.Kind), "time", r.At.Format(clockForm), "reason", r.Reason)
		}
		v := report.VerifiedIn(ev.notes, k.Kind)
		if n := v.Left(k.Resending); n > 0 {
			all.add(TroubleDiffers, k.Kind, "kind", string(k.Kind), "number", documents(n), "time", v.At.Format(clockForm))
		}
		lag := time.Duration(k.LagSeconds * float64(time.Second))
		switch late := lag.Round(time.Second).String(); {
		case lag <= LagBound:
		case k.Holder != "":
			all.add(TroubleKindHeld, k.Kind, "kind", string(k.Kind), "time", late, "holder", k.Holder)
		default:
			all.add(TroubleLag, k.Kind, "kind", string(k.Kind), "time", late)
		}
		if ahead := ev.newest[k.Kind].Sub(st.At); ahead > FutureBound {
			all.add(TroubleClock, k.Kind, "kind", string(k.Kind), "time", ahead.Round(time.Second).String())
		}
		if k.DeadLetters > 0 {
			all.add(TroubleDeadLetters, k.Kind, "kind", string(k.Kind), "number", fmt.Sprint(k.DeadLetters))
		}
		if lacks, fields := whatIsMissing(k); lacks != "" && counts(k.Kind) {
			all.add(TroubleFields, k.Kind, "kind", string(k.Kind), "number", documents(k.Counted), "lacks", lacks, "fields", fields)
		}
		all.silent(st, k.Delivered)
		if which := whatIsRefused(k.Kind, st.At, ev); which != "" {
			all.add(TroubleRefusing, k.Kind, "kind", string(k.Kind), "which", which)
		}
	}
	for _, sender := range st.Senders {
		all.silent(st, sender)
	}
	if ev.failed != nil && st.Accepting {
		all.add(TroubleTurnedAway, "", "time", ev.failed.At.UTC().Format(clockForm), "reason", cmp.Or(ev.failed.Reason, fmt.Sprint(ev.failed.Status)))
	}
	if ev.unknownCalls != "" {
		all.add(TroubleUnknownCalls, "", "reason", ev.unknownCalls)
	}
	if j := st.Journal; j != nil && ev.backupEvery > 0 {
		if at := j.BackupAt; at == nil {
			all.add(TroubleBackup, "", "every", shortly(ev.backupEvery), "newest", "there is none")
		} else if st.At.Sub(*at) > ev.backupEvery {
			all.add(TroubleBackup, "", "every", shortly(ev.backupEvery), "newest", "the newest is from "+at.Format(clockForm))
		}
	}
	if l := ev.log; !l.Since.IsZero() && st.At.Sub(l.Since) >= LogBound {
		reason := "its reader has stopped, or is too slow"
		if l.Err != nil {
			reason = l.Err.Error()
		}
		all.add(TroubleLogUnread, "", "time", l.Since.UTC().Format(clockForm), "reason", reason, "number", fmt.Sprint(l.Dropped))
	}
	if len(st.WrongAliases) > 0 {
		all.first(TroubleAlias, func(t Trouble) bool { return t.What == TroubleSearch })
	}
	if ev.turns != nil {
		all.first(TroubleClusters, func(t Trouble) bool { return t.acts() || t.Kind != "" && t.Severity == Critical })
	}
	if lost {
		all.afterLoss()
	}
	slices.SortStableFunc(all, func(a, b Trouble) int { return indexOf(a.What) - indexOf(b.What) })
	return all
}

// whyUnsearchable says why no search finds the probe, and what to do.
func (st Status) whyUnsearchable(p Probe) (why, remedy string) {
	since := func(at time.Time) string {
		return fmt.Sprintf("since %s, for %s", at.UTC().Format(clockForm), st.At.Sub(at).Round(time.Second))
	}
	switch w, waits := indexOfKind(report.Probe, st.Waiting); {
	case p.Fails != nil && p.Fails.Reason == reasonUnavailable:
		return fmt.Sprintf("shards of %s are not there %s: Elasticsearch is still starting them, or lacks their node (%s)", p.Index, since(p.Fails.Since), p.Fails.Detail), p.Fails.remedy()
	case p.Fails != nil:
		return fmt.Sprintf("that search has failed %s: %s", since(p.Fails.Since), p.Fails.Detail), p.Fails.remedy()
	case waits:
		return fmt.Sprintf("nothing gets through to the index %s %s: %s", p.Index, since(w.Since), heldReason(w, held[w.Reason].is)), heldRemedy(w, held[w.Reason].remedy)
	}
	return "Elasticsearch takes changes, and search does not show them", "Check the index " + p.Index + " and its shards in Elasticsearch, and whether its refresh is turned off"
}

// reasonUnavailable is that of a request for which Elasticsearch lacks shards, or a node.
const reasonUnavailable = "unavailable"

// silent adds that deliveries were expected and did not come. What riskdex turns away is told as that.
func (all *troubles) silent(st Status, a Arrived) {
	if !st.Accepting || !a.overdue(st.At) {
		return
	}
	since := "it was ready"
	if a.Last != nil {
		since = a.Last.Format(clockForm)
	}
	all.add(TroubleSilent, a.Kind, "kind or sender", a.name(), "time", since, "then", a.Expected.Format(clockForm), "why", a.Because)
}

// afterLoss says of remedies that send what the journal has, or remove what it lacks, that riskdex
// refuses them while changes are lost.
func (all troubles) afterLoss() {
	for i, t := range all {
		if t.acts() && t.What != TroubleLost {
			all[i].Remedy = "First what " + TroubleLost + " says; until that is acknowledged, riskdex refuses to repair, rebuild and retry. Then: " + t.Remedy
		}
	}
}

// first says of remedies that another trouble may be the cause: of what is wrong with an index, if
// another cluster has another one, and of a search that fails where the alias leads elsewhere.
func (all troubles) first(cause string, of func(Trouble) bool) {
	for i, t := range all {
		if of(t) {
			all[i].Remedy = "First what " + cause + " says, which may be the cause. Then: " + t.Remedy
		}
	}
}

// acts reports whether the remedy sends what the journal has, or removes what it lacks.
func (t Trouble) acts() bool {
	return slices.ContainsFunc([]string{"--repair", "riskdex rebuild", "dead retry"}, func(command string) bool { return strings.Contains(t.Remedy, command) })
}

// whatIsRefused says what was refused of a kind that is still a trouble; empty if nothing is.
func whatIsRefused(kind report.Kind, now time.Time, ev evidence) string {
	var which []string
	if r, ok := ev.refused[kind]; ok && now.Sub(r.At) < RefusedBound {
		which = append(which, fmt.Sprintf("the newest at %s (%s)", r.At.UTC().Format(clockForm), r.Reason))
	}
	if n := ev.refusedDocuments[kind]; n > 0 {
		which = append(which, "and nothing was accepted since for "+documents(n))
	}
	return strings.Join(which, ", ")
}

// whatIsMissing says which fields fewer documents have than should, and names them as in a JSON list;
// nothing if there are none.
func whatIsMissing(k KindStatus) (lacks, fields string) {
	var all, names []string
	for _, f := range k.Fields {
		if f.Missing {
			all = append(all, fmt.Sprintf("%d have no %s", k.Counted-f.Documents, f.Field))
			names = append(names, fmt.Sprintf("%q", f.Field))
		}
	}
	return strings.Join(all, ", "), strings.Join(names, ", ")
}

// mayBeIncomplete reports whether a good part of what the index of a kind had is sent again. A rebuild
// fills another index than the one that is searched.
func (st Status) mayBeIncomplete(k KindStatus) bool {
	const few = 10
	rebuilt := k.Holder != "" || slices.ContainsFunc(st.Rebuilds, func(r report.Rebuild) bool { return r.Kind == k.Kind && r.Phase.Active() })
	if rebuilt || k.Documents == nil || k.Resending == 0 {
		return false
	}
	return *k.Documents == 0 || k.Resending >= few && k.Resending > *k.Documents/10
}

func documents(n int) string {
	if n == 1 {
		return "1 document"
	}
	return fmt.Sprintf("%d documents", n)
}

// shortly returns a duration without zeros at its end: 24h, and not 24h0m0s.
func shortly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// whyAway returns why Elasticsearch did not answer, from an index that waits for it.
func whyAway(waiting []report.Waiting) string {
	for _, w := range waiting {
		if !w.Paused && w.Detail != "" {
			return w.Detail
		}
	}
	return "no reason is known yet"
}

// heldReason returns why an index is held, with the reason in the metrics and, if that does
// not say enough, with what Elasticsearch says.
func heldReason(w report.Waiting, is string) string {
	switch {
	case is == "":
		return w.Reason + ": " + w.Detail
	case slices.Contains([]string{"request_refused", "pipeline_missing", "answer_unclear"}, w.Reason) && w.Detail != "":
		return fmt.Sprintf("%s (%s): %s", is, w.Reason, w.Detail)
	}
	return fmt.Sprintf("%s (%s)", is, w.Reason)
}

// blocks are the settings of an index that block it, each with the number that Elasticsearch states it by.
var blocks = []struct{ number, name string }{{"5", "read_only"}, {"7", "read"}, {"8", "write"}, {"9", "metadata"}, {"12", "read_only_allow_delete"}}

func heldRemedy(w report.Waiting, remedy string) string {
	if remedy == "" {
		return "See the reason in the runbook"
	}
	var found []string
	for _, block := range blocks {
		if strings.Contains(w.Detail, "/"+block.number+"/") {
			found = append(found, block.name)
		}
	}
	block := cmp.Or(strings.Join(found, `": null, "index.blocks.`), "read_only_allow_delete")
	return strings.NewReplacer("INDEX", w.Index, "KIND", string(w.Kind), "BLOCK", block).Replace(strings.TrimSuffix(remedy, "."))
}

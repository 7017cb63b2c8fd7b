// Package journal keeps every accepted change until Elasticsearch shows it, and the newest
// delivery of every document for as long as the document lives.
//
// This package has the interface, [Journal], its options and its errors. Package sqlite is the
// engine for one process, package postgres the one for several. Package transfer copies a
// journal from one engine to the other, package conformance tests what every engine must do, and
// internal/commit has the rules that both share.
//
// A journal is a compacted log with one row per document: the pending rows are the queue, the
// dead ones the store of dead letters, and all of them the source of a rebuild. A deleted
// document leaves a tombstone, a row without a body, until [Options.KeepDeleted] after the delete
// was settled. A delete of an unknown document leaves a tombstone only while refusals are kept, so
// that no retry of them brings the document back, and once the journal was ever set back, since the
// index may have the document: then the delete is sent.
//
// # Promises
//
//   - Durable. When Append returns nil, the whole delivery survives a power cut. When it returns
//     an error, nothing of the delivery was accepted, except that all of it may have been if the
//     context ended while Append waited, or the disk failed during the commit. Delivering again
//     is harmless in both cases.
//   - Conserved. For every kind and at every moment, in Stats and on disk, accepted = indexed +
//     deleted + superseded + dead + pending. The transaction that accepts a newer version counts
//     the older one as superseded.
//   - Ordered. Versions are unique and only grow, across restarts too, and when the clock jumps
//     back. Once a version is committed, Claim gives out no older version of that document.
//   - Exclusive. A document has at most one claim at a time. Claims are not durable: after a
//     restart, changes that were not settled can be claimed again.
//   - Checked. Every record has a checksum, which is verified whenever the body is read. A
//     damaged record is never given out: it becomes a dead letter with the error type
//     [report.ErrorTypeDamaged], and the others go on. No operation gives a damaged record a correct
//     checksum.
//   - Isolated. Requests of many callers share a transaction, but a request that cannot be
//     carried out fails alone.
//
// A settlement waits for no fsync of its own. If a power cut undoes it, the change is pending
// again, and sending it again changes nothing.
//
// # Dead letters and refusals
//
// A change that Elasticsearch refuses becomes a dead letter: its row stays, and Claim leaves it
// out. A newer delivery of the document replaces it. RetryDead and ReplaceDead accept it again as
// a new change, so that the totals only grow. DropDead deletes its body and keeps the row, so that
// the version, and the code of a city, remain known.
//
// A delivery or record that is not accepted is kept with its body as a refusal, within bounds. A
// newer delivery of the document deletes it as well.
//
// A retry must not overwrite anything newer, and newer is what the publisher sent later. Versions
// alone do not tell that, since retries and reissued documents get a new version for an old body.
// So the journal also keeps the order of deliveries:
//
//   - A refusal gets a version, like the change that it could have been.
//   - A row whose version is newer than its content has an origin: the version under which the
//     content was delivered or refused first.
//   - A retry of a refusal is left out if the origin of the document is higher than the version of
//     the refusal. Otherwise that version becomes the origin of the retry. It is stored as a
//     negative number, so that a delivery is not said to have had more changes than it had.
//
// # Traces
//
// A change may carry a trace, which Claim returns with that version, after a restart too. The
// trace is deleted when the version is settled, whatever the outcome. No checksum covers it.
// Without tracing, no statement is executed for it.
//
// # Repeated deliveries
//
// The receipt of a delivery is kept in the same transaction, for [report.ReceiptsFor]. Meanwhile
// a delivery with the same sender and id has no effect: Append returns the answer to the first
// one, or says that the two differ. This holds across restarts and for deliveries that arrive at
// the same time.
//
// # History
//
// With [Options.History], each change adds an entry to the history of its document, in the
// transaction that accepts it: from whom it came, and what it replaced, with its body, its
// checksum, its state and when the index first had it. So the newest version is stored once, and
// dropping old entries takes nothing away that was valid later. A body that the next version
// repeats is left out; SQLite compresses the others afterwards. Entries are dropped by age and
// size, a few per transaction. An entry names the version that it replaced, so History notices
// where changes are missing that were accepted while history was off.
//
// # Recovery
//
// Opening an SQLite journal after a crash takes these steps:
//
//  1. Lock the lock file beside it, and the file itself, which may have other names. The system
//     has dropped the locks of a process that died; while such a process lives, opening fails.
//  2. Complete a restore that was begun (sqlite.Restore).
//  3. Compare the id of the file, and its last version, with those noted when its write-ahead log
//     (WAL) was begun. If they differ, the WAL belongs to another file or to a later state of this
//     one, and opening fails.
//  4. SQLite reads the WAL up to the last whole transaction. A transaction that was cut short has
//     a wrong checksum and is ignored.
//  5. Compare the schema version. That of another riskdex is refused, and an empty file is set up,
//     in one transaction.
//  6. Load the last version and the totals. They were written in the transactions of the rows that
//     they count, so they agree.
//  7. Compare the last version with the acknowledged watermark: the last acknowledged version, in
//     a file beside the journal that ends in .last. If the journal is behind, changes are lost,
//     because the WAL was damaged or an older copy replaced the file. The loss is logged as an
//     error, with the period to deliver again, and noted in the journal, so that Stats reports it
//     in every process and copy until [Journal.AcknowledgeLoss].
//  8. Nothing is claimed. Pending rows can be claimed at once, including those that were in
//     flight. Elasticsearch refuses a version that it already has, which settles as superseded, or
//     writes it again unchanged.
//
// A full disk fails only the requests of the transaction that it interrupts. After any other disk
// error the journal trusts neither its connection nor its file: the page cache may hold what never
// reached the disk, and writing that again may not help. Ready and Append return the error until
// the journal has
//
//  1. opened the file and its WAL again, since SQLite's memory of the WAL may be wrong,
//  2. let SQLite check the pages of the file as they are read now,
//  3. copied the file with its WAL, durably, to a new file,
//  4. moved that into the place of the old one, and opened it as above.
//
// Reading goes on meanwhile. The copy needs as much space as the file. A file beside the journal
// that ends in .suspect makes the next process do the same if this one ends first. Close copies
// the WAL into the file itself unless the file is suspect, since SQLite would not report a
// failure.
//
// A disk or a server may hang without ever failing. Once a request has waited for 5 seconds,
// Ready returns an error, and new reads of an SQLite journal return it too, without touching the
// disk. Requests, and reads that began before, go on waiting for as long as their callers do.
//
// The files of an open journal may be renamed, deleted or replaced. The journal looks for that once
// a second and before each group. While a name leads to another file than the open one, Ready and
// every Append of changes return an error, and all other requests go on in the open files. The
// journal accepts again once the same files are back.
//
// # Several processes
//
// Any number of processes may share a journal in PostgreSQL. They need not know of each other. The
// promises hold for all of them together, with these additions.
//
// Claims are leases. A process renews its lease every 2 seconds; after 15 seconds without renewal
// the others take it for dead, give out again what it had claimed, and ignore its settlements of
// that. If it was only slow, a document may be in flight twice; Elasticsearch then refuses the
// older version. The slow process goes on under a new id: its Append works as before, and its next
// Claim reports that it was taken for dead. Its long transactions are ended, so that their locks
// hold up nobody. A process that could not reach the server itself judges no other for 15 seconds
// afterwards.
//
// Claims and NotBefore end when their process closes its journal, or with its lease. They wait for
// no fsync: a server that crashes may forget the last ones, and settlements too.
//
// LockKind locks a kind for one process. The lock is durable and ends with its holder or with the
// holder's lease. The other processes are told once that the kind was locked.
//
// Versions are taken while the rows are locked. So versions of one document grow in the order of
// commits, through whichever process they come; those of different documents need not.
//
// Append waits as synchronous_commit of the database says. With "on" and a synchronous standby, an
// acknowledged delivery is on both disks and survives a failover to that standby, and later
// versions stay above all earlier ones. With an asynchronous standby or with "local", a failover
// loses what was not yet copied, as under "Set back". With "off" Append fails. A commit whose wait for the standby
// is cancelled counts as failed, although the server reports success.
//
// If the answer to a commit is lost, with the connection or because it takes more than 14 seconds,
// Append returns an error, and the delivery may be committed now or a moment later. A repeat with
// the same receipt tells; its answer is as durable as the first would have been.
//
// While the server is away or read-only, all writes return an error without effect, and Ready says
// why. The journal goes on by itself when the server is back. NOTIFY tells idle processes that
// changes can be claimed; they also look every 2 seconds, in case a notification is lost.
//
// # Set back
//
// A journal may come back in an older state: as a copy, rewound, or failed over. It was set back if
// it does not know a version that it had given out. What remembers those lies outside of it: the
// processes that accepted them, the indices, and the probe, which carries the newest ones of
// deletes, too ([Journal.CheckGiven]). Versions are compared by document, so new deliveries hide
// nothing. The loss is noted in the journal. Until [Journal.AcknowledgeLoss], nothing from before is
// given out, and nothing that is lost is replaced or removed by what the journal has.
//
// A process compares before its first transaction and its first Claim on a server of PostgreSQL that
// was started anew, and with each heartbeat.
//
// # Disk quota
//
// Above [Options.MaxBytes] or below [Options.MinFree], Append fails with [report.ErrNoRoom] and accepts
// nothing of the delivery; all other requests go on. Above MaxBytes, deletes of existing documents
// are accepted, and deletes that leave no row. Refusals are silently not kept meanwhile.
//
// SQLite's WAL is copied into the file whenever 4 MiB of it are not there yet, unless somebody
// reads the file for long, such as a backup. Then the WAL grows by what is written, counts for both
// limits, and is truncated afterwards. In PostgreSQL, dropping something does not make the tables
// smaller: the server keeps the space for what comes, once it has vacuumed it. So records count
// instead, uncompressed and without indexes, where they are smaller than the tables. Receipts
// count as their table.
package journal

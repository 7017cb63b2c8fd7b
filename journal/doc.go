// Package journal keeps every accepted change until Elasticsearch shows it, and
// the newest delivery of every document for as long as the document lives.
//
// This package has the interface, [Journal], its options and its errors. The engines are
// packages sqlite, for one process, and postgres, for several; package transfer copies a
// journal from one to the other, and journaltest is what every engine passes. The rules,
// which are the same for both, are in internal/commit.
//
// It is a compacted log: one row per document, which is the queue (rows that are
// pending), the store of dead letters (rows that are dead) and the source of a
// rebuild (all rows) at once. A deleted document leaves a tombstone, a row
// without a body, which is dropped [Options.KeepDeleted] after the delete was settled.
// A delete of what is not there leaves nothing, unless a refusal is kept, whose retry it
// must outrank.
//
// # What it promises
//
//   - Durable. When Append returns nil, the delivery survives a power cut, all
//     of it. When Append returns an error, none of it is in, with two
//     exceptions in which all of it may be in: the context ended while Append
//     waited, and the disk failed in the very moment of the commit. Delivering
//     again is harmless in both.
//   - Conserved. Per kind and at every moment, in Stats and on disk,
//     accepted = indexed + deleted + superseded + dead + pending. A change that
//     is overtaken counts as superseded in the transaction that accepts the
//     newer one.
//   - Ordered. Versions are unique and only grow, also across restarts and when
//     the clock jumps back. Once a version is committed, Claim gives out no older
//     version of that document.
//   - Exclusive. A document has at most one claim at a time. Claims live in
//     memory: after a restart, what was not settled is claimed again.
//   - Checked. Every record carries a checksum that is verified whenever its
//     body is read. A damaged record is never given out; it becomes a dead
//     letter with the error type [ErrorTypeDamaged], and the others go on. No
//     operation gives a damaged record a checksum that fits.
//   - Isolated. A request that cannot be carried out fails alone, although
//     requests of many callers share one transaction.
//
// A settlement is not worth an fsync of its own: one that a power cut undoes
// makes the change pending again, and sending it again changes nothing.
//
// # What is set aside
//
// A change that Elasticsearch refuses becomes a dead letter: its row stays as it is
// and is given out no more. A newer delivery of the document ends it, and so does a
// person. RetryDead and ReplaceDead accept it once more, as a new change, so that
// the sums only grow; DropDead takes the body out and leaves the row, with which the
// version and the code of a city stay known.
//
// A delivery, or a record of one, that is not accepted is kept as a refusal, with
// its body, within bounds. A newer delivery of the document ends it as well.
//
// Nothing of this may overtake what is newer, and newer is what the publisher sent
// later. Versions alone do not tell: a dead letter that is retried, and a document
// that is renewed, get a new version for an old body. So the order of deliveries is
// kept beside them:
//
//   - Every refusal is given a version, as a change would have been in its place.
//   - A row whose version is newer than its content has an origin, the version that
//     the content was delivered, or refused, under.
//   - A retry of a refusal takes the place of the refusal: it is left out where the
//     origin of the document is higher, and its own version has that origin.
//
// # Traces
//
// A change may come with the name of the trace that it belongs to. Claim returns it with
// that version, also after a restart. It is deleted when the version is settled, whatever
// the outcome. No checksum covers it: a trace that is lost harms nobody. Where nothing is
// traced, no statement is run for traces.
//
// # What comes twice
//
// A delivery may come with a receipt, which is kept in the same transaction. While
// there is one of the same sender and id, a delivery takes no effect: Append says
// what was answered to the first, or that this is another one. That holds across
// restarts, and for any number that come at the same time. It is forgotten after
// [report.ReceiptsFor].
//
// # Recovery
//
// Opening a journal after a crash, in this order:
//
//  1. The lock file beside it is locked, and the file itself, which may have another
//     name elsewhere. The system dropped the locks of a process that died; while one
//     lives, opening fails.
//  2. A restore that was begun is completed (sqlite.Restore).
//  3. The id of the file is compared with the one that is noted for its write-ahead log
//     (WAL), and its last version with the one that it had when the WAL was begun. Where
//     they do not fit, the WAL is of another file, or of a later state of this one, and
//     opening fails.
//  4. SQLite reads the WAL up to the last whole transaction. A transaction that was cut
//     short has a wrong checksum and is not seen.
//  5. The schema version is compared. A newer one is refused, an older one is
//     brought up to date and an empty file is set up, each in one transaction.
//  6. The last version given out and the totals are loaded. They were written in
//     the same transactions as the rows that they speak of, so they agree.
//  7. A file beside the journal, which ends in .last, has the last version that was
//     acknowledged, the acknowledged watermark. Where the journal is behind it, changes
//     are lost, by damage to the WAL or because an older copy was put in its place. This is logged as an
//     error, with the times between which to deliver again, and noted in the journal:
//     Stats says so, in every process and copy, until [Journal.AcknowledgeLoss].
//  8. Nothing is claimed. Every pending row can be claimed at once, also those
//     that were in flight; a version that Elasticsearch already has is refused
//     there and settles as superseded, or is written again unchanged.
//
// While it runs, a full disk fails the requests of one transaction and nothing
// else. After any other error of the disk the journal trusts neither its
// connection nor its file: what the system's cache has of it need not be on the
// disk, and writing it once more need not change that. Ready and every Append
// return the error until the journal has
//
//  1. opened the file and its WAL anew, since what SQLite remembers of the WAL need not
//     be in it any longer,
//  2. let SQLite check the pages of the file as it is read now,
//  3. copied it, with its WAL, to a new file, durably,
//  4. put that in the place of the old one, and opened it as above.
//
// What was read before can be read meanwhile. The copy needs as much room as the
// file. A file beside the journal, which ends in .suspect, has the next process do
// the same if this one ends before. Close copies the WAL into the file itself, unless
// that is not trusted: SQLite would not report a failure.
//
// A disk, or a server, may hang and never fail. From the moment that a request has had no
// answer for 5 seconds, Ready returns an error, and what reads an SQLite journal does so
// too, without touching the disk; what begins to read before that waits for the disk, and
// nothing else does. Requests go on waiting, for as long as their callers do.
//
// The files may be renamed, deleted or replaced while the journal is open. It looks for
// them once a second and before each group. While a name leads to something else than
// what is open, Ready and every Append of changes return an error; all other requests go
// on, in the files that are open. It accepts again once the same files are back.
//
// # Several processes
//
// A journal in PostgreSQL is shared by any number of processes, which need not know of
// each other. What is promised above holds for all of them together, with what follows.
//
// Claims are leases. A process renews its lease every 2 seconds; one that has not for
// 15 seconds is taken for dead by the others. What it had claimed is given out
// again, and what it still says of it does not count. If it was only slow, a document
// may be in flight twice then: what keeps the newer one in the index is that the index
// refuses older versions. It goes on under a new id; its Append is as good as before,
// and its next Claim says that it was taken for dead. Transactions that it was in for
// long are ended, so that what they had locked holds up nobody. A process that could not
// reach the server itself for a while judges nobody for another 15 seconds.
//
// Claims, and what is put off by NotBefore, end with their process: at once where it
// closes its journal, and otherwise with its lease. They are not worth waiting for a
// disk: a server that crashes may forget the last ones, and a settlement as well.
//
// LockKind gives one process a kind alone. The lock is durable, ends with its holder or with
// its holder's lease, and whoever comes after it is told once that the kind was locked.
//
// Versions are taken after the rows that they are for are locked. So the versions of one
// document grow in the order of commits, whichever process they come through; those of
// different documents need not.
//
// An Append waits for what synchronous_commit of the database says. With "on" and a
// synchronous standby, what is acknowledged is on both disks, and a failover to that
// standby loses nothing of it; versions stay above all that were given out. With an
// asynchronous standby, or with "local", a failover loses what was not yet copied, and
// nobody notices: the documents are in the index, and the journal has older ones or
// none; verify finds them. With "off" nothing is accepted. A commit whose wait for the
// standby is cancelled is no success, although the server calls it one.
//
// When the answer to a commit is lost, with the connection or because it takes more than
// 14 seconds, Append returns an error and the delivery may be in, now or a moment later.
// A repeat with the same receipt tells, and its answer is as durable as the first would
// have been.
//
// While the server is away, or takes no writes, everything that writes returns an error,
// nothing is in half, and Ready says why. Who finds the server again goes on by itself.
// NOTIFY tells idle processes of what can be claimed; where it is lost, they look every
// 2 seconds.
//
// Past [Options.MaxBytes] it is as below, but what the tables take does not shrink when
// something is dropped: PostgreSQL keeps the space for what comes.
//
// # Disk quota
//
// Past [Options.MaxBytes] or below [Options.MinFree], Append fails with
// [ErrNoRoom] and nothing of the delivery is in; all other requests go on. Deletes
// of documents that are there are taken past MaxBytes, and those that leave nothing.
// Refusals are not kept meanwhile, without an error. The
// WAL is copied into the file whenever 4 MiB of it are not there yet, unless someone
// reads the file for long, a backup for example: then it grows by what is written
// meanwhile, counts for both limits, and is truncated afterwards.
package journal

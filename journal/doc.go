// Package journal keeps every accepted change until Elasticsearch shows it, and
// the newest delivery of every document for as long as the document lives.
//
// It is a compacted log: one row per document, which is the queue (rows that are
// pending), the store of dead letters (rows that are dead) and the source of a
// rebuild (all rows) at once. A deleted document leaves a tombstone, a row
// without a body.
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
//     letter with the error type [ErrorTypeDamaged], and the others go on.
//   - Isolated. A request that cannot be carried out fails alone, although
//     requests of many callers share one transaction.
//
// A settlement is not worth an fsync of its own: one that a power cut undoes
// makes the change pending again, and sending it again changes nothing.
//
// # Recovery
//
// Opening a journal after a crash, in this order:
//
//  1. The lock file beside it is locked. The system dropped the lock of a
//     process that died; while one lives, opening fails.
//  2. SQLite reads the write-ahead log up to the last whole transaction. A
//     transaction that was cut short has a wrong checksum and is not seen.
//  3. The schema version is compared. A newer one is refused, an empty file is
//     set up, all in one transaction.
//  4. The last version given out and the totals are loaded. They were written in
//     the same transactions as the rows that they speak of, so they agree.
//  5. Nothing is claimed. Every pending row can be claimed at once, also those
//     that were in flight; a version that Elasticsearch already has is refused
//     there and settles as superseded, or is written again unchanged.
//
// While it runs, a full disk fails the requests of one transaction and nothing
// else. After any other error of the disk the journal trusts neither its
// connection nor the system's page cache: Ready and every Append return the
// error until it has
//
//  1. closed the database and opened it again, as above,
//  2. let SQLite check its pages,
//  3. copied the whole log into the database file, so that pages which a failed
//     fsync may have left behind are written once more.
package journal

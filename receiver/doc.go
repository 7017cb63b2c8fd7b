// Package receiver is the door: it takes the publisher's deliveries over HTTP,
// checks them as strictly as Elasticsearch would, splits them into changes,
// hands them to the journal and answers once they are durable.
//
// A delivery passes through, in this order:
//
//	path.go     which kind, which document
//	door.go     whose it is, by package auth
//	body        read, inflate, bound; unread.go answers where that fails
//	jsonscan    refuse JSON that Elasticsearch would refuse later
//	payload.go  make changes of it:
//	envelope.go   find the records in whatever envelope they came in
//	identity.go   find each record's id and code
//	norecord.go   refuse what would take the place of a report and says nothing
//	deliver.go  append to the journal, answer
//	repeated.go answer what was appended before
//
// redeliver.go has what was refused, or edited by an operator, pass the same
// checks without HTTP in between.
//
// The package trusts nothing about the shape of a record beyond its being JSON
// with an id. It never answers with a redirect, which a sender would take for a
// failure, and it never answers 2xx before the journal has said that the
// delivery is durable.
package receiver

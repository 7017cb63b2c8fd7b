// Package receiver takes the publisher's deliveries over HTTP. It checks them as strictly
// as Elasticsearch would, parses them into changes, hands these to the journal, and answers
// once they are durable.
//
// A delivery passes through, in this order:
//
//	path.go          one spelling of the path: which kind, which document
//	authenticate.go  who sends it, by package auth
//	deliver.go       the steps below, in a straight line
//	  body             read, inflate, bound; unread.go answers where that fails
//	  parse.go         changes of the body:
//	    jsonscan         reject JSON that Elasticsearch would reject later
//	    envelope.go      find the records by where the content is; beside.go what else is there
//	    bycontent.go     or by the places that they name, whatever is around them
//	    rows.go          records that are the rows of a table
//	    around.go        keep each record with the objects that it refers to
//	    keyed.go         records that stand in an object, by their ids or positions
//	    identity.go      find each record's id and code; likelyids.go and uniqueids.go where it is
//	                     at no usual place
//	    norecord.go      reject what would replace a report and says nothing
//	  the journal      append, durably
//	  wait.go          if the sender asks for it, wait until a search shows it
//	  result.go        what it came to; answer.go writes that
//	repeated.go      answer a repeated delivery as before
//
// Beside them:
//
//	receiver.go, config.go    what a receiver is made of; its routes
//	feed.go, names.go         what mapping tools ask of a payload
//	reader.go                 what a payload would change, without delivering it
//	refused.go, text.go       refusals of records, and how answers word them
//	listhint.go, suggestpath.go, mediatype.go   what was probably meant: records, path, media type
//	mismatch.go               a PUT whose record states another id than its path
//	precondition.go           If-Match and the like
//	health.go                 what balancers ask
//	gone.go                   has the sender hung up?
//	notdurable.go             why a delivery is not durable
//	answered.go, metrics.go, trace.go, loglimiter.go   what is told of a request
//
// redeliver.go passes refused deliveries, or bodies that an operator has edited, through
// the same checks without HTTP.
//
// The package assumes nothing about a record but that it is JSON with an id. It never
// redirects, which a sender would take for a failure, and it never answers 2xx before the
// journal has made the delivery durable.
package receiver

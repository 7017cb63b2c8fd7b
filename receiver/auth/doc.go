// Package auth decides whose deliveries are accepted. It knows HTTP requests and secrets,
// and nothing of what a delivery carries.
//
// Every configured method has to be satisfied. The secrets of one method are alternatives,
// so that a new one can be added before the old one is removed.
//
//	authenticator.go  the configuration, and what is checked when
//	address.go        where the request comes from
//	certificate.go    the TLS client certificate
//	authorization.go  bearer tokens and basic credentials
//	webhook.go        signatures of the Standard Webhooks specification
//	hub.go            signatures in X-Hub-Signature-256
//	page.go           no web page, where neither a token nor a signature is required
//	builder.go        makes an authenticator, with all mistakes in its settings
//	secret.go         what a line of a file of secrets is
//	refusal.go        the answer to a rejected request, and its cause
//	who.go            which sender an accepted request comes from
//	tokens.go         bearer tokens for something other than deliveries
//	credentials.go    what riskdex push shows
//
// Everything but signatures is checked before the body is read. Signatures are checked over
// the bytes as they were sent, before anything is decompressed.
//
// Secrets come from files, which are read again when they change (secrets.go). While a file
// is missing, empty or unreadable, nobody is accepted. Every secret is compared in constant
// time, whichever matches, and appears in no error and no log.
package auth

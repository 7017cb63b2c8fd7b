// Package auth decides whose deliveries are let in. It knows HTTP requests and
// secrets, and nothing of what a delivery carries.
//
// Every method that is configured has to be satisfied; the secrets of one method
// are alternatives, so that a new one can be brought in before the old one goes.
//
//	address.go        where the request comes from
//	certificate.go    the certificate that the client has shown over TLS
//	authorization.go  bearer tokens and basic credentials
//	webhook.go        signatures of the Standard Webhooks specification
//	hub.go            signatures in X-Hub-Signature-256
//	page.go           no web page, where neither a token nor a signature is asked for
//
// All of it but the signatures is looked at before the body is read, so that
// strangers have nothing read; signatures are checked over the bytes as they were
// sent, before anything is decompressed.
//
// Secrets come from files, which are read again when they change (secrets.go). A
// file that is missing, empty or unreadable closes the door to everyone until it
// is mended. Secrets are compared in constant time, each of them whichever
// matches, and appear in no error and in no log.
package auth

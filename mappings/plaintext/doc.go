// Package plaintext turns the strings of records into text that a person would read: one
// that search can find words in, and that a highlight can show.
//
//	readable.go  whether a string is for people at all: no file, address, id or token
//	markup.go    HTML, by the tokenizer of golang.org/x/net/html
//	tags.go      the usual HTML, several times faster
//	markdown.go  the signs of Markdown
//	prose.go     white space in one form, paragraphs, invisible characters
//	words.go     plain ASCII, eight bytes at a time
//
// All functions may be called concurrently. Input is UTF-8.
package plaintext

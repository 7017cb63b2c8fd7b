// Package samplefeed makes the sample feed: what a publisher would send, in the order in
// which it would be sent, and what a search index must hold afterwards.
//
// The facts are real: cities with their codes, countries, positions, airports and other
// names. The text is this project's own, and says everywhere that it is sample text. A
// program puts it together from prose/, making choices that are seeded by the document's
// code or id; it draws risk levels in the same way. Records come in the shapes that
// comparable feeds publish, which differ in field names, types, envelopes, dates and
// markup.
//
// The same build always makes the same bytes: it uses no clock, no randomness and no files
// from outside.
//
// The cities' facts are from GeoNames (CC BY 4.0), lxndrblz/Airports (CC BY-SA 4.0) and
// mborsetti/airportsdata (MIT); README.md has the details.
package samplefeed

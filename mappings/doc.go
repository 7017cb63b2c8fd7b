// Package mappings defines what riskdex's documents look like in Elasticsearch: where their
// fields come from in a delivery, what an index for them is made from, and how they are
// searched.
//
// The definitions are JSON files beside the code, which README.md explains:
//
//   - cities.json, advisories.json and special-reports.json list, for every field, where in
//     a record its value may be.
//   - index.json has the settings and the mapping of every index.
//   - search.json is the query of a search, complete.json that of a completion while
//     typing.
//   - countries.json has the names of countries.
//   - threats.json has the words of travel risk.
//
// Package gazetteer adds the names that cities and countries have in other languages.
// Package plaintext makes readable text of markup.
//
// How a feed names its fields is not known. [Set.See] finds out which pointers lead to them, by what
// the values of its records are: columns.go reads the columns of a sample, values.go says what is in
// them, about.go what each record is about. infer.go asks which column fills which field: infercountry.go,
// inferposition.go, infernames.go, infertitle.go, inferdates.go, inferlevel.go (with inferscale.go for what
// the values of a scale mean, and inferorder.go for scales that stand beside them), inferthreats.go and
// inferplaces.go. damage.go says how many values may be anything. shapes.go says which records are read
// alike, and reading.go when all that is done. enrich.go makes lists of numbered members, and follows
// references. An operator's files win, field by field.
//
// [Builtin] and [Load] read the files into a [Set], or return [Mistakes].
// witness.go tells searches which words are places and threats.
// [Set.AppendDocument] makes the document of a change, [Set.Explain] reports where its
// fields come from, [Set.Body] makes the body of a search, as package search says.
// Package indices makes indices and searches them.
//
// Three properties keep a delivery from being refused because of its shape. The mapping is
// not dynamic, so field names and types of a delivery never reach it. A value that does not
// fit its field is left out and reported, so a wrong date spoils nothing else. And the
// delivery itself is kept in the field source, which Elasticsearch stores without indexing
// it.
package mappings

// Package mappings knows what riskdex's documents look like in Elasticsearch:
// where their fields come from in a delivery, what an index for them is made from, and
// how they are searched.
//
// All of it stands in JSON files beside the code, which README.md explains:
//
//   - cities.json, advisories.json and special-reports.json say, for every
//     field, where in a record its value may be.
//   - index.json has the settings and the mapping of every index.
//   - search.json is the query, complete.json the one while typing.
//   - countries.json has the names of countries.
//   - threats.json has the words of travel risk.
//
// Package gazetteer has what cities and countries are called elsewhere.
//
// [Builtin] and [Load] read them into a [Set], or say what is wrong in them with
// [Mistakes]. [Set.AppendDocument] makes the document of a change,
// [Set.Explain] says where its fields come from, [Set.SearchBody] makes the body of a
// search and [ReadResult] reads its answer. Package indices makes indices and asks them.
//
// Three properties keep a delivery from being refused, whatever its shape. The
// mapping is not dynamic, so field names and types of a delivery never reach it.
// A value that does not fit its field is left out of it and reported, so a wrong
// date spoils nothing. And the delivery itself is kept in the field source,
// which Elasticsearch stores without looking at it.
package mappings

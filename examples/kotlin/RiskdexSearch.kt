import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.text.Normalizer
import org.json.JSONArray
import org.json.JSONObject

/**
 * Searches the index that riskdex keeps, with what Android has by itself.
 *
 *     val riskdex = RiskdexSearch("https://search.example", searchJson, completeJson)
 *     val found = withContext(Dispatchers.IO) { riskdex.search("protest london", listOf(RiskdexSearch.country("GB")), from = 10) }
 *
 * search and complete are the files of mappings/, shipped as assets.
 */
class RiskdexSearch(
    url: String,
    private val search: String,
    private val complete: String,
    prefix: String = "",
    private val authorization: String? = null,
) {
    data class Hit(
        val kind: String, val id: String, val title: String, val score: Double, val code: String?,
        val countries: List<String>, val threats: List<String>, val riskLevel: Int?, val clauses: List<String>,
        val highlights: Map<String, List<String>>, // HTML: <em> around matches, everything else escaped
    )

    data class Count(val value: String, val documents: Int)

    data class Found(
        val total: Int, val more: Boolean, // more: total is a lower bound
        val hits: List<Hit>, val facets: Map<String, List<Count>>, val didYouMean: String?,
    )

    /** What Elasticsearch answered instead of hits. Show it: it does not mean that nothing was found. */
    class Failure(val status: Int, val answer: String) : IOException("the search failed: $status $answer")

    private val address = URL(url.trimEnd('/') + "/" + KINDS.joinToString(",") { prefix + it } + "/_search?allow_partial_search_results=false")

    /** What somebody searches for. After from hits, up to 10,000, come the next. */
    fun search(words: String, filter: List<JSONObject> = emptyList(), size: Int = 10, from: Int = 0): Found =
        ask(fill(JSONObject(search), words, filter, size, from))

    /** What somebody has typed so far. */
    fun complete(typed: String, filter: List<JSONObject> = emptyList(), size: Int = 8): Found =
        ask(fill(JSONObject(complete), typed, filter, size, 0))

    private fun ask(body: Any): Found {
        val connection = address.openConnection() as HttpURLConnection
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = 10_000
            connection.readTimeout = 10_000
            connection.doOutput = true
            connection.setRequestProperty("Content-Type", "application/json")
            authorization?.let { connection.setRequestProperty("Authorization", it) }
            connection.outputStream.use { it.write(body.toString().toByteArray()) }
            if (connection.responseCode != 200) {
                throw Failure(connection.responseCode, connection.errorStream?.use { it.readBytes().decodeToString() }.orEmpty())
            }
            return read(JSONObject(connection.inputStream.use { it.readBytes().decodeToString() }))
        } finally {
            connection.disconnect()
        }
    }

    private fun read(answer: JSONObject): Found {
        val list = answer.getJSONObject("hits")
        val hits = list.getJSONArray("hits").objects().map { hit ->
            val source = hit.getJSONObject("_source")
            val highlight = hit.optJSONObject("highlight") ?: JSONObject()
            Hit(
                source.optString("kind"), hit.getString("_id"), source.optString("title"), hit.optDouble("_score"),
                if (source.has("code")) source.getString("code") else null,
                strings(source.opt("country")), strings(source.opt("threats")),
                if (source.has("risk_level")) source.getInt("risk_level") else null,
                strings(hit.opt("matched_queries")),
                highlight.keys().asSequence().associateWith { strings(highlight.get(it)) },
            )
        }
        val aggregations = answer.optJSONObject("aggregations") ?: JSONObject()
        val facets = aggregations.keys().asSequence().associateWith { field ->
            aggregations.getJSONObject(field).getJSONArray("buckets").objects().map { bucket ->
                val value = bucket.get("key").toString()
                Count(if (field == "country") value.uppercase() else value, bucket.getInt("doc_count"))
            }
        }
        val words = answer.optJSONObject("suggest")?.optJSONArray("did_you_mean")?.objects().orEmpty()
        val total = list.getJSONObject("total")
        return Found(total.getInt("value"), total.getString("relation") != "eq", hits, facets, didYouMean(words, hits))
    }

    companion object {
        val KINDS = listOf("cities", "advisories", "special-reports")

        // Filters; docs/search.md has more.
        fun kind(vararg names: String) = terms("kind", names)
        fun country(vararg codes: String) = terms("country", codes)
        fun threat(vararg names: String) = terms("threats", names)
        fun riskAtLeast(level: Int): JSONObject =
            JSONObject().put("range", JSONObject().put("risk_level", JSONObject().put("gte", level)))

        private fun terms(field: String, values: Array<out String>): JSONObject =
            JSONObject().put("terms", JSONObject().put(field, JSONArray(values.toList())))

        // Replaces the placeholders of a parsed body. JSONObject escapes the words.
        private fun fill(body: JSONObject, words: String, filter: List<JSONObject>, size: Int, from: Int): Any {
            val oneLine = words.trim().replace(Regex("\\s+"), " ")
            val most = minOf(100, oneLine.codePointCount(0, oneLine.length)) // of more, Elasticsearch may refuse the search
            val typed = oneLine.substring(0, oneLine.offsetByCodePoints(0, most))
            val values = mapOf("{{words}}" to typed, "{{filter}}" to JSONArray(filter), "{{size}}" to size, "{{from}}" to from)
            fun walk(value: Any): Any = when (value) {
                is String -> values[value] ?: value
                is JSONArray -> JSONArray((0 until value.length()).map { walk(value.get(it)) })
                is JSONObject -> JSONObject().also { copy -> value.keys().forEach { copy.put(it, walk(value.get(it))) } }
                else -> value
            }
            return walk(body)
        }

        // A hit that only these clauses found does not show that the words were right.
        private val WEAK = setOf(
            "misspelt name", "misspelt name, and other words", "misspelt words", "a place in it", "a country in it", "a region in it", "a rare word", "its threat", "new", "words of its title",
            "some of the words, or others for the same threat", "all words in title, names and country",
        )

        private fun didYouMean(words: List<JSONObject>, hits: List<Hit>): String? {
            if (hits.any { hit -> hit.clauses.any { it !in WEAK } }) return null
            val known = hits.flatMap { it.title.split(Regex("[^\\p{L}\\p{Nd}\\p{Mn}]+")) }.map(::fold).toSet()
            var corrected = false
            val likelier = words.map { word ->
                val text = word.getString("text")
                val options = word.getJSONArray("options").objects()
                if (options.isEmpty() || fold(text) in known) {
                    text
                } else {
                    corrected = true
                    options.first().getString("text")
                }
            }
            return if (corrected) likelier.joinToString(" ") else null
        }

        private fun fold(word: String) = Normalizer.normalize(word, Normalizer.Form.NFKD).replace(Regex("\\p{Mn}"), "").lowercase()

        private fun JSONArray.objects() = (0 until length()).map { getJSONObject(it) }

        // A field is a string or an array of them.
        private fun strings(value: Any?): List<String> = when (value) {
            is JSONArray -> (0 until value.length()).map { value.getString(it) }
            is String -> listOf(value)
            else -> emptyList()
        }
    }
}

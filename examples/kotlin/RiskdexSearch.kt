import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import org.json.JSONArray
import org.json.JSONObject

/**
 * Searches riskdex through its search API (docs/search-api.md), with what Android has. Call it off the main thread.
 *
 *     val riskdex = RiskdexSearch("https://search.example")
 *     val found = riskdex.search(mapOf("q" to "protest london", "country" to "GB,FR", "from" to "10"))
 */
class RiskdexSearch(url: String, private val key: String? = null) {
    data class Point(val lat: Double, val lon: Double)

    data class Place(val name: String?, val location: Point?)

    data class Suggestion(
        val kind: String, val id: String, val title: String, val code: String?, val matched: String?, val country: List<String>,
        val countryNames: List<String>, val inLanguage: String?)

    data class Hit(
        val suggestion: Suggestion,
        val threats: List<String>,
        val riskLevel: Int?,
        val riskLabel: String?,
        val startsAt: String?,
        val endsAt: String?,
        val publishedAt: String?,
        val updatedAt: String?,
        val receivedAt: String,
        val location: Point?,
        val nearest: Place?,
        val distanceKm: Double?,
        val snippet: String, // HTML: <em> around matches, everything else escaped
    )

    data class Found(
        val total: Int,
        val more: Boolean, // total is a lower bound
        val hits: List<Hit>,
        val facets: Map<String, Map<String, Int>>,
        val didYouMean: String?,
        val noReport: Boolean, // say so above the hits; it does not mean that there is no risk
        val noReportOn: Place?, // the hits are the nearest to it
    )

    /** Why there is no answer. Show it: it does not mean that nothing was found. */
    class Failure(val status: Int, val reason: String?, detail: String) : IOException(detail)

    private val base = url.trimEnd('/')

    /** The parameters are those of GET /v1/search in openapi.yaml. Several values are separated by commas. */
    fun search(parameters: Map<String, String>): Found {
        val found = get(listOf("v1", "search"), parameters)
        val facets = found.getJSONObject("facets")
        return Found(
            found.getInt("total"), found.getBoolean("more"), found.getJSONArray("hits").objects().map(::hit),
            facets.keys().asSequence().associateWith { field -> facets.getJSONArray(field).objects().associate { it.getString("value") to it.getInt("count") } },
            found.text("did_you_mean"), found.getBoolean("no_report"), found.optJSONObject("no_report_on")?.let(::place),
        )
    }

    /** Names and codes that begin with what was typed so far. */
    fun complete(typed: String): List<Suggestion> =
        get(listOf("v1", "complete"), mapOf("q" to typed)).getJSONArray("hits").objects().map(::suggestion)

    /** A report, with the members of Document in openapi.yaml. */
    fun report(kind: String, id: String): JSONObject = get(listOf("v1", "documents", kind, id), emptyMap())

    private fun get(path: List<String>, parameters: Map<String, String>): JSONObject {
        val query = parameters.entries.joinToString("&") { (name, value) -> escaped(name) + "=" + escaped(value) }
        val connection = URL(base + "/" + path.joinToString("/", transform = ::escaped) + "?" + query).openConnection() as HttpURLConnection
        try {
            connection.connectTimeout = 10_000
            connection.readTimeout = 10_000
            key?.let { connection.setRequestProperty("Authorization", "Bearer $it") }
            val status = connection.responseCode
            if (status == HttpURLConnection.HTTP_OK) return JSONObject(connection.inputStream.bufferedReader().readText())
            val problem = runCatching { JSONObject(connection.errorStream.bufferedReader().readText()) }.getOrDefault(JSONObject())
            throw Failure(status, problem.text("reason"), problem.text("detail") ?: "The search failed: $status.")
        } finally {
            connection.disconnect()
        }
    }

    private fun escaped(text: String) = URLEncoder.encode(text, "UTF-8").replace("+", "%20")

    private fun suggestion(of: JSONObject) =
        Suggestion(of.getString("kind"), of.getString("id"), of.getString("title"), of.text("code"), of.text("matched"), of.getJSONArray("country").texts(),
            of.optJSONArray("country_names")?.texts() ?: emptyList(), of.text("in_language"))

    private fun hit(of: JSONObject) = Hit(
        suggestion(of), of.getJSONArray("threats").texts(), if (of.has("risk_level")) of.getInt("risk_level") else null, of.text("risk_label"),
        of.text("starts_at"), of.text("ends_at"), of.text("published_at"), of.text("updated_at"), of.getString("received_at"),
        point(of.optJSONObject("location")), of.optJSONObject("nearest")?.let(::place),
        if (of.has("distance_km")) of.getDouble("distance_km") else null, of.getString("snippet"),
    )

    private fun place(of: JSONObject) = Place(of.text("name"), point(of.optJSONObject("location")))

    private fun point(of: JSONObject?) = of?.let { Point(it.getDouble("lat"), it.getDouble("lon")) }

    private fun JSONObject.text(name: String): String? = if (has(name)) getString(name) else null

    private fun JSONArray.objects() = (0 until length()).map(::getJSONObject)

    private fun JSONArray.texts() = (0 until length()).map(::getString)
}

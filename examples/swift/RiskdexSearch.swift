import Foundation

/// Searches the index that riskdex keeps.
///
///     let riskdex = try RiskdexSearch(url: URL(string: "https://search.example")!, search: searchJSON, complete: completeJSON)
///     let found = try await riskdex.search("protest london", filter: [RiskdexSearch.country("GB")], from: 10)
///
/// `search` and `complete` are the files of `mappings/`, shipped in the app's bundle.
struct RiskdexSearch {
    struct Hit {
        let kind, id, title: String
        let score: Double
        let code: String?
        let countries, threats: [String]
        let riskLevel: Int?
        let clauses: [String]
        let highlights: [String: [String]]  // HTML: <em> around matches, everything else escaped
    }

    struct Found {
        let total: Int
        let more: Bool  // total is a lower bound
        let hits: [Hit]
        let facets: [String: [(value: String, documents: Int)]]
        let didYouMean: String?
    }

    /// What Elasticsearch answered instead of hits. Show it: it does not mean that nothing was found.
    struct Failure: Error {
        let status: Int
        let answer: String
    }

    static let kinds = ["cities", "advisories", "special-reports"]

    private let url: URL
    private let bodies: (search: Any, complete: Any)
    private let authorization: String?

    init(url: URL, search: Data, complete: Data, prefix: String = "", authorization: String? = nil) throws {
        let indices = Self.kinds.map { prefix + $0 }.joined(separator: ",")
        let base = url.absoluteString.trimmingCharacters(in: CharacterSet(charactersIn: "/"))
        guard let address = URL(string: "\(base)/\(indices)/_search?allow_partial_search_results=false") else {
            throw URLError(.badURL)
        }
        self.url = address
        self.bodies = (try JSONSerialization.jsonObject(with: search), try JSONSerialization.jsonObject(with: complete))
        self.authorization = authorization
    }

    // Filters; docs/search.md has more.
    static func kind(_ names: String...) -> [String: Any] { ["terms": ["kind": names]] }
    static func country(_ codes: String...) -> [String: Any] { ["terms": ["country": codes]] }
    static func threat(_ names: String...) -> [String: Any] { ["terms": ["threats": names]] }
    static func riskAtLeast(_ level: Int) -> [String: Any] { ["range": ["risk_level": ["gte": level]]] }

    /// What somebody searches for. After `from` hits, up to 10,000, come the next.
    func search(_ words: String, filter: [[String: Any]] = [], size: Int = 10, from: Int = 0) async throws -> Found {
        try await ask(Self.fill(bodies.search, words, filter, size, from))
    }

    /// What somebody has typed so far. Cancel the task when the next letter comes.
    func complete(_ typed: String, filter: [[String: Any]] = [], size: Int = 8) async throws -> Found {
        try await ask(Self.fill(bodies.complete, typed, filter, size, 0))
    }

    private func ask(_ body: Any) async throws -> Found {
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200,
            let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let list = answer["hits"] as? [String: Any],
            let total = list["total"] as? [String: Any]
        else { throw Failure(status: status, answer: String(decoding: data, as: UTF8.self)) }

        let hits = (list["hits"] as? [[String: Any]] ?? []).map(Self.hit)
        var facets: [String: [(value: String, documents: Int)]] = [:]
        for (field, facet) in answer["aggregations"] as? [String: [String: Any]] ?? [:] {
            facets[field] = (facet["buckets"] as? [[String: Any]] ?? []).map { bucket in
                let value = "\(bucket["key"] ?? "")"
                return (field == "country" ? value.uppercased() : value, bucket["doc_count"] as? Int ?? 0)
            }
        }
        let words = (answer["suggest"] as? [String: Any])?["did_you_mean"] as? [[String: Any]] ?? []
        return Found(
            total: total["value"] as? Int ?? 0, more: total["relation"] as? String != "eq",
            hits: hits, facets: facets, didYouMean: Self.didYouMean(words, hits))
    }

    private static func hit(_ json: [String: Any]) -> Hit {
        let source = json["_source"] as? [String: Any] ?? [:]
        func list(_ field: String) -> [String] {  // a field is a string or an array of them
            source[field] as? [String] ?? (source[field] as? String).map { [$0] } ?? []
        }
        return Hit(
            kind: source["kind"] as? String ?? "", id: json["_id"] as? String ?? "", title: source["title"] as? String ?? "",
            score: json["_score"] as? Double ?? 0, code: source["code"] as? String,
            countries: list("country"), threats: list("threats"), riskLevel: source["risk_level"] as? Int,
            clauses: json["matched_queries"] as? [String] ?? [], highlights: json["highlight"] as? [String: [String]] ?? [:])
    }

    /// Replaces the placeholders of a parsed body. JSONSerialization escapes the words.
    private static func fill(_ part: Any, _ words: String, _ filter: [[String: Any]], _ size: Int, _ from: Int) -> Any {
        let oneLine = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let typed = String(oneLine.unicodeScalars.prefix(100)) // of more, Elasticsearch may refuse the search
        let values: [String: Any] = ["{{words}}": typed, "{{filter}}": filter, "{{size}}": size, "{{from}}": from]
        func walk(_ value: Any) -> Any {
            switch value {
            case let text as String: return values[text] ?? text
            case let list as [Any]: return list.map(walk)
            case let object as [String: Any]: return object.mapValues(walk)
            default: return value
            }
        }
        return walk(part)
    }

    /// A hit that only these clauses found does not show that the words were right.
    private static let weakClauses: Set<String> = [
        "misspelt name", "misspelt name, and other words", "misspelt words", "a place in it", "a country in it", "a region in it", "a rare word", "its threat", "new", "words of its title",
        "some of the words, or others for the same threat", "all words in title, names and country",
    ]

    private static func didYouMean(_ words: [[String: Any]], _ hits: [Hit]) -> String? {
        func fold(_ word: String) -> String { word.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) }
        if hits.contains(where: { $0.clauses.contains { !weakClauses.contains($0) } }) { return nil }
        let known = Set(hits.flatMap { $0.title.split { !$0.isLetter && !$0.isNumber }.map { fold(String($0)) } })
        var corrected = false
        let likelier = words.map { word -> String in
            let text = word["text"] as? String ?? ""
            guard let best = (word["options"] as? [[String: Any]])?.first?["text"] as? String, !known.contains(fold(text)) else { return text }
            corrected = true
            return best
        }
        return corrected ? likelier.joined(separator: " ") : nil
    }
}

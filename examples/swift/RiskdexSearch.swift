import Foundation

/// Searches riskdex through its search API (docs/search-api.md).
///
///     let riskdex = RiskdexSearch(url: URL(string: "https://search.example")!, key: nil)
///     let found = try await riskdex.search(["q": "protest london", "country": "GB,FR", "from": "10"])
struct RiskdexSearch {
    struct Suggestion: Decodable {
        let kind, id, title: String
        let code, matched, inLanguage: String?
        let countryNames: [String]?
        let country: [String]
    }

    struct Point: Decodable { let lat, lon: Double }

    struct Place: Decodable {
        let name: String?
        let location: Point?
    }

    struct Hit: Decodable {
        let kind, id, title: String
        let code, matched, inLanguage: String?
        let countryNames: [String]?
        let country, threats: [String]
        let riskLevel: Int?
        let riskLabel, startsAt, endsAt, publishedAt, updatedAt: String?
        let receivedAt: String
        let location: Point?
        let nearest: Place?
        let distanceKm: Double?
        let snippet: String  // HTML: <em> around matches, everything else escaped
    }

    struct Found: Decodable {
        struct Count: Decodable {
            let value: String
            let count: Int
        }
        let total: Int
        let more: Bool  // total is a lower bound
        let hits: [Hit]
        let facets: [String: [Count]]  // of kind, country, riskLevel, threats
        let didYouMean: String?
        let noReport: Bool  // say so above the hits; it does not mean that there is no risk
        let noReportOn: Place?  // the hits are the nearest to it
    }

    struct Report: Decodable {
        let kind, id: String
        let title, code, summary, text, riskLabel, startsAt, endsAt, publishedAt, updatedAt: String?
        let names, country, threats, airports: [String]
        let riskLevel: Int?
        let location: Point?
        let places: [Place]
        let receivedAt: String
    }

    /// Why there is no answer. Show it: it does not mean that nothing was found.
    struct Failure: Error, Decodable {
        let status: Int
        let detail: String
        let reason: String?  // such as away, too_many, mistake
    }

    let url: URL
    let key: String?  // one of --key-file

    /// The parameters are those of GET /v1/search in openapi.yaml. Several values are separated by commas.
    func search(_ parameters: [String: String]) async throws -> Found {
        try await get(["v1", "search"], parameters)
    }

    /// Names and codes that begin with what was typed so far.
    func complete(_ typed: String) async throws -> [Suggestion] {
        struct Completed: Decodable { let hits: [Suggestion] }
        let completed: Completed = try await get(["v1", "complete"], ["q": typed])
        return completed.hits
    }

    func report(kind: String, id: String) async throws -> Report {
        try await get(["v1", "documents", kind, id], [:])
    }

    private func get<Answer: Decodable>(_ path: [String], _ parameters: [String: String]) async throws -> Answer {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
        let base = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        let query = parameters.map { "\(escaped($0.key))=\(escaped($0.value))" }.joined(separator: "&")
        guard let address = URL(string: "\(base)/\(path.map(escaped).joined(separator: "/"))?\(query)") else { throw URLError(.badURL) }
        var request = URLRequest(url: address, timeoutInterval: 10)
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (answer, response) = try await URLSession.shared.data(for: request)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            throw (try? decoder.decode(Failure.self, from: answer)) ?? Failure(status: status, detail: "The search failed: \(status).", reason: nil)
        }
        return try decoder.decode(Answer.self, from: answer)
    }
}

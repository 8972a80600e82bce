import Foundation
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultStore
import MoultTools
import TestSupport
import Testing

/// A browser with the page of a store: it keeps the cookie, and sends what a browser sends.
final class Visit {
    static let host = "127.0.0.1:8080"
    let site: Site
    private var cookie: String?

    init(_ settings: Site.Settings) { site = Site(settings, host: Self.host) }

    /// A browser that has opened the address.
    static func begun(_ settings: Site.Settings) async throws -> Visit {
        let visit = Visit(settings)
        let entrance = try #require(URLComponents(string: await visit.site.entrance))
        let response = await visit.send("GET", "/?" + (entrance.query ?? ""))
        #expect(response.status == 303 && response.header("Location") == "/")
        visit.cookie = response.header("Set-Cookie")?.split(separator: ";").first.map(String.init)
        return visit
    }

    /// - Parameter headers: those of a browser, with changes; nil leaves one out.
    func send(
        _ method: String, _ target: String, _ changes: [String: String?] = [:], body: String = ""
    ) async -> Response {
        var headers: [String: String?] = ["Host": Self.host, "Cookie": cookie, "Sec-Fetch-Site": "same-origin"]
        if method == "POST" {
            headers["Origin"] = "http://\(Self.host)"
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        }
        headers.merge(changes) { $1 }
        let sent = headers.compactMap { name, value in value.map { (name, $0) } }
        guard let request = Request(method, target, headers: sent, body: Array(body.utf8)) else {
            return Response(400, type: "text/plain", "")
        }
        return await site.respond(to: request)
    }

    func get(_ target: String) async throws -> String {
        let response = await send("GET", target)
        try #require(response.status == 200, "\(target): \(response.text)")
        #expect(strayTags(response.text) == [], "\(target)")
        return response.text
    }

    /// Sends the form of a page whose button has these words, waits for the work, and returns what it has come to.
    func press(_ button: String, on page: String, and more: String = "") async throws -> String {
        let forms = page.components(separatedBy: "<form ").dropFirst()
        let form = try #require(forms.first { $0.contains(">\(button)</button>") }, "\(page)")
        let fields = try form.matches(of: Regex(#"<input type="hidden" name="([^"]*)" value="([^"]*)">"#)).map {
            match in
            "\(match.output[1].substring ?? "")=\(match.output[2].substring ?? "")"
        }
        let action = try #require(form.firstMatch(of: /action="([^"]*)"/)?.output.1)
        let response = await send("POST", String(action), body: fields.joined(separator: "&") + more)
        guard response.header("Location") == "/job" else { return response.text }
        while try await get("/job.json").contains("\"isRunning\":true") { await Task.yield() }
        return try await get("/job")
    }

    /// The tags that close nothing, or that nothing closes; hostile names must make none.
    private func strayTags(_ page: String) -> [String] {
        guard page.hasPrefix("<!DOCTYPE html>") else { return [] }
        let void: Set = ["meta", "link", "input", "img", "br"]
        var open: [String] = []
        for match in page.matches(of: /<(\/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>/) {
            let name = String(match.output.2)
            if void.contains(name) { continue }
            if match.output.1.isEmpty {
                open.append(name)
            } else if open.popLast() != name {
                return [name]
            }
        }
        let tags = page.matches(of: /<(\/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>/).count
        return tags + 1 == page.count { $0 == "<" } ? open : ["<"]
    }
}

/// The keys of the objects in a page's table, in order.
func keys(_ page: String) -> [Int64] {
    page.matches(of: /<th scope="row"><a href="\/object\?[^"]*">(\d+)</).compactMap { Int64($0.output.1) }
}

/// The address of the next page; nil on the last.
func next(_ page: String) -> String? { link("next", page) }

/// The address that a page gives for another one: `first`, `prev`, `next` or `last`.
func link(_ relation: String, _ page: String) -> String? {
    page.components(separatedBy: "<a rel=\"\(relation)\" href=\"").dropFirst().first.map {
        $0.prefix { $0 != "\"" }.replacingOccurrences(of: "&amp;", with: "&")
    }
}

extension Visit {
    /// The keys of a list over all of its pages.
    func allKeys(_ first: String) async throws -> [Int64] {
        var (target, found): (String?, [Int64]) = (first, [])
        while let address = target {
            let page = try await get(address)
            found += keys(page)
            target = next(page)
        }
        return found
    }

    /// The keys of a list over all of its pages, which are read from the last to the first. The first page is full, so it
    /// may repeat some of the second.
    func allKeysBackwards(_ list: String) async throws -> [Int64] {
        var (target, found): (String?, [Int64]) = (list + "&page=last", [])
        while let address = target {
            let page = try await get(address)
            found = keys(page).filter { !found.contains($0) } + found
            target = link("prev", page)
        }
        return found
    }
}

/// A store of the forum's first version in a folder of its own, next to the model.
struct ForumStore {
    let folder: ScratchFolder
    var path: String { folder.path + "/forum.sqlite" }
    var models: String { folder.path + "/Forum.xcdatamodeld" }

    init(count: Int = 6) throws {
        folder = try ScratchFolder()
        let examples = packageRoot.appendingPathComponent("Examples").path
        try FileManager.default.copyItem(atPath: "\(examples)/Forum.xcdatamodeld", toPath: models)
        let maker = try StoreCreator(try ModelVersions(contentsOf: models).versions[0])
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
        _ = try SampleData(seed: 1, count: count, isHostile: false).fill(writer)
        try writer.finish()
    }

    func settings(allowsChanges: Bool = false) -> Site.Settings {
        var settings = Site.Settings(store: path)
        settings.models = models
        settings.allowsChanges = allowsChanges
        return settings
    }

    func sql(_ query: String) throws -> String {
        try SQLiteShell.run(path, query).trimmingCharacters(in: .newlines)
    }

    /// The keys that a query returns.
    func keys(_ query: String) throws -> [Int64] { try sql(query).split(separator: "\n").compactMap { Int64($0) } }
}

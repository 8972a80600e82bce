import Moult
import MoultBasics
import MoultModel

/// The local site for a folder: the list of the stores in it, and the site of each below a path of its own.
package actor FolderSite {
    private let settings: Site.Settings
    /// Returns the wording of remedies about a store and its model.
    private let words: @Sendable (_ store: String, _ model: String?) -> any RemedyWords
    private var access: Access
    /// The stores by name, each with its model; nil for the model inside the store.
    private var stores: [String: (path: String, model: String?, site: Site?)] = [:]
    private let projects = KeptProjects()
    private let system = POSIXSystem()

    /// The most stores that a list shows, and the time for finding them, in nanoseconds.
    private static let (most, searchTime) = (500, UInt64(5_000_000_000))

    /// - Parameters:
    ///   - settings: the settings for every store; its store is the folder.
    ///   - host: the host of the site, `127.0.0.1:PORT`.
    ///   - words: returns the wording of remedies about a store and its model.
    package init(
        _ settings: Site.Settings, host: String,
        words: @escaping @Sendable (_ store: String, _ model: String?) -> any RemedyWords
    ) {
        (self.settings, self.words) = (settings, words)
        access = Access(host: host, session: settings.session)
    }

    /// The address that opens the site. It works once.
    package var entrance: String { access.entrance }

    /// Cancels the current jobs and waits for their end.
    package func finish() async { for site in stores.values.compactMap(\.site) { await site.finish() } }

    // MARK: - Requests

    package func respond(to request: Request) async -> Response {
        await Remedy.$words.withValue(settings.words) { await page(for: request) }
    }

    private func page(for request: Request) async -> Response {
        if let refusal = access.answer(to: request) { return refusal }
        do {
            switch request.path {
            case "/": return Response(try listPage())
            case "/style.css":
                return Response(200, type: "text/css; charset=utf-8", Site.style + Site.tableStyle)
            default: break
            }
            let parts = request.path.split(separator: "/", maxSplits: 2).map(String.init)
            if parts.count >= 2, parts[0] == "store", let site = try site(named: parts[1]) {
                return await Remedy.$words.withValue(site.settings.words) {
                    await site.admitted(request.at("/" + (parts.count > 2 ? parts[2] : "")))
                }
            }
        } catch {
            return Response(document("Error", "<h1>This cannot be shown</h1>\(errorWords(error))"), status: 422)
        }
        return Response(document("Not found", "<h1>Not found</h1><p>There is no such page.</p>"), status: 404)
    }

    /// Returns the site of a store; nil if the folder has no such store.
    private func site(named name: String) throws -> Site? {
        if stores[name] == nil { _ = try found() }
        guard let store = stores[name] else { return nil }
        if let site = store.site { return site }
        var settings = settings
        settings.store = store.path
        settings.models = store.model
        settings.words = words(store.path, settings.models)
        let site = Site(settings, access: access, projects, root: "/store/\(name)")
        stores[name]?.site = site
        return site
    }

    // MARK: - The list

    /// Looks for the stores in the folder. Each has the same name at every start.
    ///
    /// - Returns: the stores by path, and whether these are all.
    private func found() throws -> (entries: [FleetEntry], isComplete: Bool) {
        let versions = settings.models == nil ? nil : try projects.project(settings).versions
        let look = try versions.map { try StoreLook($0, target: nil) } ?? StoreLook()
        let order = settings.order
        var read: [String: ModelVersions?] = [:]
        var (looks, models) = ([String: StoreLook](), [String: String]())
        let found = try Self.entries(in: settings.store) { path, name in
            let nearby = NearbyModels(store: path)
            guard versions == nil, !nearby.paths.isEmpty,
                let model = nearby.choice(for: path, .reading, order: order, known: &read).path,
                let beside = read[model] ?? nil
            else { return try look.look(at: path, name: name) }
            models[path] = model
            let own = try looks[model] ?? StoreLook(beside, target: nil)
            looks[model] = own
            return try own.look(at: path, name: name)
        }
        return (remembered(found.entries, models), found.isComplete)
    }

    private static func entries(
        in folder: String, look: @escaping (_ path: String, _ name: String?) throws -> FleetEntry?
    ) throws -> (entries: [FleetEntry], isComplete: Bool) {
        var (entries, seen) = ([FleetEntry](), Set<FileIdentity>())
        let system = POSIXSystem()
        let start = system.monotonicNanoseconds
        let finder = StoreFinder { candidate in
            guard entries.count < most, system.monotonicNanoseconds - start < searchTime else { throw Enough() }
            guard let entry = try? look(candidate.path, candidate.name),
                seen.insert(entry.identity).inserted
            else { return }
            entries.append(entry)
        } miss: { _ in
        }
        do {
            try finder.find([folder])
        } catch is Enough {
            return (entries, false)
        }
        return (entries, true)
    }

    private struct Enough: Error {}

    /// Returns whether there is a store in a folder or below it. The search ends at the first, and is given up after the
    /// time that a list would have.
    package static func holdsStore(_ folder: String) throws -> Bool {
        let (system, look) = (POSIXSystem(), StoreLook())
        let start = system.monotonicNanoseconds
        let finder = StoreFinder { candidate in
            let isOver = system.monotonicNanoseconds - start > searchTime
            if isOver || (try? look.look(at: candidate.path)) != nil { throw Enough() }
        } miss: { _ in
        }
        do {
            try finder.find([folder])
            return false
        } catch is Enough {
            return true
        }
    }

    private func remembered(_ entries: [FleetEntry], _ models: [String: String]) -> [FleetEntry] {
        for entry in entries where stores[Self.name(of: entry.path)]?.site == nil {
            stores[Self.name(of: entry.path)] = (entry.path, settings.models ?? models[entry.path], nil)
        }
        return entries.inByteOrder { $0.path }
    }

    private static func name(of path: String) -> String { Array(Digest.sha256(path.utf8).prefix(8)).hexadecimal }

    private func listPage() throws -> HTML {
        let (entries, isComplete) = try found()
        let folder = try system.resolve(settings.store)
        // Without a model beside it, a store is of the only version that is known.
        let states = entries.map { entry in
            stores[Self.name(of: entry.path)]?.model == nil ? "" : entry.state.rawValue
        }
        let hasModel = states.contains { !$0.isEmpty }
        let rows: [HTML] = zip(entries, states).map { entry, relation in
            let path = entry.path.hasPrefix(folder + "/") ? String(entry.path.dropFirst(folder.count + 1)) : entry.path
            let name: HTML = entry.name.map { " <small>\($0)</small>" } ?? ""
            let notes: [HTML] = entry.findings.map { "<div>\($0.message)</div>" }
            let state: HTML = hasModel ? "<td>\(relation)</td>" : ""
            return """
                <th scope="row"><a href="/store/\(Self.name(of: entry.path))/"><bdi>\(path)</bdi></a>\(name)</th>\
                <td><bdi>\(entry.version)</bdi></td>\(state)<td class="number">\(Quantity.bytes(entry.size))</td>\
                <td class="number">\(Quantity.count(entry.rows))</td><td>\(notes)</td>
                """
        }
        let heads: [HTML] =
            ["Store", "Version"] + (hasModel ? ["State"] : []) + ["Size", "Objects, at most", "Noticed"]
        let list: HTML =
            rows.isEmpty
            ? "<p>The folder has no store of Core Data or SwiftData.</p>" : table("Stores", heads, rows)
        let note: HTML =
            isComplete ? "" : "<p class=\"hint\">Not everything in the folder was looked at. Name a smaller folder.</p>"
        return document("Stores", "<h1>Stores</h1><p><code>\(folder)</code></p>\(list)\(note)")
    }

    private func document(_ title: String, _ content: HTML) -> HTML {
        frame(title, of: Path.name(of: settings.store), "<link rel=\"stylesheet\" href=\"/style.css\">", content)
    }
}

import Moult
import MoultBasics
import MoultEngine

extension Site {
    /// The most versions, and the most entities without objects, that are shown unfolded.
    private static let (versionLimit, emptyLimit) = (10, 5)

    /// Returns the page of the store: its facts, its state relative to the model, and its entities.
    func overview() async throws -> HTML {
        let path = settings.store
        let status = try await project().status(of: path)
        let size = try system.status(of: path)?.size ?? 0
        let state: HTML =
            switch status.state {
            case .current where settings.models == nil:
                "No model was named, and none is nearby: whether there is a later version is not known."
            case .current: "The store is of the newest version."
            case .behind:
                """
                The store is \(Quantity.count(status.versionsBehind ?? 0, "version")) behind \
                <bdi>\(status.target ?? "")</bdi>. <a href="/plan">See the plan</a>
                """
            case .ahead: "The store is of a later version than <bdi>\(status.target ?? "")</bdi>."
            case .unknown where settings.models == nil: "No model was named, and the store has none that can be read."
            case .unknown: "The store is of none of the model's versions."
            case .notCoreData: "The file is not a store of Core Data or SwiftData."
            }
        let noticed = status.findings.filter { $0.severity > .note }
        let findings: HTML = noticed.isEmpty ? "" : "<h2>Findings</h2>\(list(noticed))"
        return page(
            "Store", at: .store,
            """
            <h1>\(Path.name(of: path))</h1>
            \(facts([("Path", "<code>\(path)</code>"), ("Size", "\(Quantity.bytes(Int(size)))"), ("Version", "<bdi>\(status.version ?? "unknown")</bdi>")]))
            <p>\(state)</p>\(pending(status))
            \(versions(status))
            <h2>Entities</h2>
            \(try entities())
            \(findings)
            """)
    }

    /// Returns the work that waits, and the run that has not ended; nothing if there is none.
    func pending(_ status: StoreStatus) -> HTML {
        let sentences: [HTML] = status.pendingSentences.map { "<p>\(prose: $0)</p>" }
        guard !sentences.isEmpty else { return "" }
        let isUnfinished = status.pendingWork.contains("unfinishedRun")
        let run: HTML =
            isUnfinished
            ? (try? Journal.read(StoreRecords(of: settings.store, system), system)).map { journal in
                """
                <p><bdi>\(journal.operation.rawValue)</bdi>, <bdi>\(journal.from)</bdi> → <bdi>\(journal.to)</bdi>, began \
                at \(journal.startedAt).</p>
                """
            } ?? "" : ""
        let resume: HTML =
            isUnfinished && settings.allowsChanges
            ? "<p><a class=\"button\" href=\"\(address("/confirm", ["do": "resume"]))\">Resume …</a></p>" : ""
        return "<div class=\"warning\">\(sentences)\(run)\(resume)</div>"
    }

    /// Returns the versions from the store's to the newest.
    private func versions(_ status: StoreStatus) -> HTML {
        guard status.versionNames.count > 1 else { return "" }
        let items: [HTML] = status.versionNames.map { name in
            let link: HTML = "<a href=\"\(Self.model(name))\"><bdi>\(name)</bdi></a>"
            if name == status.version { return "<li aria-current=\"step\">\(link) (the store)</li>" }
            return name == status.target ? "<li>\(link) (current)</li>" : "<li>\(link)</li>"
        }
        let all: HTML = "<ol class=\"versions\" aria-label=\"Versions, oldest first\">\(items)</ol>"
        guard items.count > Self.versionLimit else { return all }
        let ends: [HTML] = zip(status.versionNames, items).compactMap { name, item in
            name == status.version || name == status.target ? item : nil
        }
        return """
            <ol class="versions" aria-label="The store’s version and the current one">\(ends)</ol>
            <details class="noise"><summary>All versions (\(items.count))</summary>\(all)</details>
            """
    }

    private func entities() throws -> HTML {
        try read { reader in
            let counts = try reader.counts()
            let parents = reader.contents.entities.map {
                reader.contents.layout?.model.entity($0.name)?.superentityName
            }
            let hasParents = parents.contains { $0 != nil }
            let rows: [HTML] = try zip(reader.contents.entities, parents).map { entity, parent in
                let many = try reader.highestKey(of: entity).map { "at most \(Quantity.count($0))" } ?? "0"
                let count = counts[entity.name].map { Quantity.count($0) } ?? many
                let kind: HTML = hasParents ? "<td><bdi>\(parent ?? "")</bdi></td>" : ""
                return """
                    <th scope="row"><a href="\(Self.objects(entity.name))"><bdi>\(entity.name)</bdi></a></th>\
                    <td class="number">\(count)</td>\(kind)
                    """
            }
            guard !rows.isEmpty else { return "<p>The store has no entities.</p>" }
            let heads: [HTML] = ["Entity", "Objects"] + (hasParents ? ["Parent"] : [])
            let isEmpty = reader.contents.entities.map { counts[$0.name] == 0 }
            let empty = zip(rows, isEmpty).filter(\.1).map(\.0)
            guard empty.count > Self.emptyLimit, empty.count < rows.count else { return table("Entities", heads, rows) }
            return """
                \(table("Entities", heads, zip(rows, isEmpty).filter { !$0.1 }.map(\.0)))
                <details class="noise"><summary>\(empty.count) entities without objects</summary>\
                \(table("Entities without objects", heads, empty))</details>
                """
        }
    }

    static func objects(_ entity: String) -> String { address("/objects", ["entity": entity]) }
}

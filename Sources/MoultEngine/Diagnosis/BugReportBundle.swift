import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// An archive for a bug report: versions, hashes, schema, counts, journal, history and log of a store.
///
/// Unless it is asked for, nothing that a user has put into the store is in it: no rows, no application's metadata; of
/// messages the text in quotes is left out, and the path of the store's folder.
package struct BugReportBundle {
    private let sidecar: Sidecar
    private let withValues: Bool
    private let system: any System

    /// - Parameter withValues: messages as they are, and the quarantine.
    package init(_ store: String, withValues: Bool = false, system: any System = POSIXSystem()) throws {
        let folder = try system.resolve(Path.folder(of: store))
        sidecar = Sidecar(
            store: try system.exists(store) ? system.resolve(store) : Path.join(folder, Path.name(of: store)))
        self.withValues = withValues
        self.system = system
    }

    /// Writes the archive.
    ///
    /// - Parameter extra: further files by name, such as the plan; taken as they are, but for what is left out of
    ///   messages.
    /// - Returns: the names of the files in it.
    package func write(to path: String, diagnosis: StoreDiagnosis, extra: [(name: String, text: String)] = []) throws
        -> [String]
    {
        let archive = try TapeArchive.Writer(path, system)
        var names: [String] = []
        do {
            for (name, text) in try texts(diagnosis) + extra {
                try archive.add(Array(withoutValues(text).utf8), as: "moult-report/\(name)")
                names.append(name)
            }
            if withValues, try system.exists(sidecar.quarantine) {
                try archive.add(file: sidecar.quarantine, as: "moult-report/quarantine.sqlite")
                names.append("quarantine.sqlite")
            }
            try archive.finish()
        } catch {
            archive.discard()
            throw error
        }
        return names
    }

    private func texts(_ diagnosis: StoreDiagnosis) throws -> [(name: String, text: String)] {
        var texts = [("diagnosis.txt", diagnosis.text), ("system.json", systemFacts.indented + "\n")]
        if let store = try? storeFacts() { texts += store }
        for (name, path) in [
            ("journal.json", sidecar.journal), ("runs.jsonl", sidecar.runs), ("log.txt", sidecar.log),
        ] where try system.exists(path) {
            texts.append((name, String(decoding: try system.read(path), as: UTF8.self)))
        }
        let manifests = try BackupFolder(sidecar.backups, system).list().map { backup in
            "\(backup.name)\n\(backup.manifest.json.indented)\n"
        }
        if !manifests.isEmpty { texts.append(("backups.txt", manifests.joined(separator: "\n"))) }
        return texts
    }

    private var systemFacts: JSONValue {
        let files = [""] + StoreProbe.sideFileSuffixes
        return [
            "moult": .string(MoultVersion.number), "sqlite": .string(Connection.version),
            "written": .string(system.now.iso8601),
            "files": .array(
                files.compactMap { suffix in
                    guard let status = try? system.status(of: sidecar.store + suffix) else { return nil }
                    return [
                        "name": .string("store\(suffix)"), "size": .integer(status.size),
                        "modified": .string(status.modified.iso8601WithMilliseconds),
                        "links": .integer(Int64(clamping: status.links)),
                        "mode": .string(String(status.mode, radix: 8)),
                    ]
                }),
        ]
    }

    private func storeFacts() throws -> [(String, String)] {
        try StoreProbe.read(sidecar.store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let schema = snapshot.catalogue.entries.compactMap(\.sql).joined(separator: ";\n") + ";\n"
            let hashes = snapshot.hashes.entities.sorted { $0.key.precedesInByteOrder($1.key) }
            let metadata: JSONValue = [
                "framework": .integer(Int64(snapshot.framework.number)),
                "identifiers": JSONValue(snapshot.metadata.versionIdentifiers),
                "checksum": .string(snapshot.hashes.checksum.hexadecimal),
                "hashes": .object(hashes.map { .init($0.key, .string($0.value.base64)) }),
                "applicationKeys": JSONValue(snapshot.metadata.applicationEntries.keys.sorted()),
                "entities": .array(
                    snapshot.primaryKeyRows.map { row in
                        ["number": JSONValue(row.number), "name": .string(row.name), "max": .integer(row.max)]
                    }),
            ]
            let counts = try probe.connection.rowCounts().sorted { $0.key.precedesInByteOrder($1.key) }
            let rows = JSONValue.object(counts.map { .init($0.key, .integer($0.value)) })
            return [
                ("schema.sql", schema), ("metadata.json", metadata.indented + "\n"),
                ("counts.json", rows.indented + "\n"),
            ]
        }
    }

    // MARK: - What is left out

    /// Of messages: the folder of the store, and what stands in curly or double quotes inside a JSON text or a line of
    /// the log.
    private func withoutValues(_ text: String) -> String {
        guard !withValues else { return text }
        let folder = Path.folder(of: sidecar.store)
        let short = folder == "/" ? text : text.replacing(folder, with: "…")
        return Self.withoutQuoted(short)
    }

    /// Texts that messages quote are escaped quotes in JSON, and quotes after a blank elsewhere than in JSON.
    static func withoutQuoted(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let mark = line.first == "{" || line.contains("\": ") ? "\\\"" : "\""
            let isSQL = line.hasPrefix("CREATE ")
            guard !isSQL else { return String(line) }
            let parts = line.components(by: mark)
            // A quote that does not end goes to the end of its line.
            return parts.enumerated().map { $0.offset.isMultiple(of: 2) ? $0.element : "…" }.joined(separator: mark)
        }.joined(separator: "\n")
    }
}

extension StringProtocol {
    /// The parts between a mark.
    fileprivate func components(by mark: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: mark) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}

extension StoreDiagnosis {
    fileprivate var text: String {
        findings.map { finding in
            "\(finding.severity.rawValue) \(finding.code) at \(finding.place)\n  \(finding.message)\n"
                + (finding.remedy.isEmpty ? "" : "  → \(finding.remedy)\n")
        }.joined(separator: "\n") + (findings.isEmpty ? "Nothing was found.\n" : "")
    }
}

import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// An archive for a bug report: versions, hashes, schema, counts, journal, history and log of a store.
///
/// Unless requested, the archive has nothing that a user put into the store: no rows, no application metadata, no
/// literals of views, triggers, indexes or defaults. Moult's messages never contain a row's value. The history keeps
/// only the codes of errors, and the path of the store's folder is left out.
package struct BugReportBundle {
    private let sidecar: StoreRecords
    private let withValues: Bool
    private let system: any System

    /// - Parameter withValues: whether to include the messages and the schema in full, and the quarantine.
    package init(_ store: String, withValues: Bool = false, system: any System = POSIXSystem()) throws {
        let folder = try system.resolve(Path.folder(of: store))
        sidecar = StoreRecords(
            store: try system.exists(store) ? system.resolve(store) : Path.join(folder, Path.name(of: store)))
        self.withValues = withValues
        self.system = system
    }

    /// Writes the archive.
    ///
    /// - Parameter extra: further files by name, such as the plan; included as they are, except for the path of the
    ///   store's folder.
    /// - Returns: the names of the files in it.
    package func write(to path: String, diagnosis: StoreDiagnosis, extra: [(name: String, text: String)] = []) throws
        -> [String]
    {
        let archive = try TapeArchive.Writer(path, system)
        var names: [String] = []
        do {
            for (name, text) in try texts(diagnosis) + extra {
                let isJSON = name.hasSuffix(".json") || name.hasSuffix(".jsonl")
                let text = withoutFolder(isJSON ? text : text.printableLines)
                try archive.add(Array(text.utf8), as: "moult-report/\(name)")
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
            let text = String(decoding: try system.read(path), as: UTF8.self)
            texts.append((name, path == sidecar.runs ? runs(text) : path == sidecar.log ? log(text) : text))
        }
        let manifests = try BackupFolder(sidecar.backups, system).list().map { backup in
            "\(backup.name)\n\(backup.manifest.json.indented)\n"
        }
        if !manifests.isEmpty { texts.append(("backups.txt", manifests.joined(separator: "\n"))) }
        return texts
    }

    private var systemFacts: JSONValue {
        let files = [""] + ReadOnlyStore.sideFileSuffixes
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
        try ReadOnlyStore.read(sidecar.store, system: system) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let hashes = snapshot.hashes.entities.inByteOrder { $0.key }
            let metadata: JSONValue = [
                "framework": snapshot.metadata.framework.map { JSONValue($0) } ?? .null,
                "identifiers": JSONValue(snapshot.metadata.versionIdentifiers),
                "checksum": .string(snapshot.hashes.checksum.hexadecimal),
                "hashes": .object(hashes.map { .init($0.key, .string($0.value.base64)) }),
                "applicationKeys": JSONValue(snapshot.metadata.applicationEntries.keys.sorted()),
                "entities": .array(
                    snapshot.primaryKeyRows.map { row in
                        ["number": JSONValue(row.number), "name": .string(row.name), "max": .integer(row.max)]
                    }),
            ]
            let counts = try probe.connection.rowCounts().inByteOrder { $0.key }
            let rows = JSONValue.object(counts.map { .init($0.key, .integer($0.value)) })
            return [
                ("schema.sql", schema(snapshot)), ("metadata.json", metadata.indented + "\n"),
                ("counts.json", rows.indented + "\n"),
            ]
        }
    }

    // MARK: - Redaction

    /// Removes the path of the store's folder from messages: it is not data of a row, but it may name the user.
    private func withoutFolder(_ text: String) -> String {
        let folder = Path.folder(of: sidecar.store)
        return withValues || folder == "/" ? text : text.replacing(folder, with: "…")
    }

    /// Returns the runs with only the codes of their errors, because the messages may be an app's own.
    private func runs(_ text: String) -> String {
        guard !withValues else { return text }
        let records = (try? RunHistory(sidecar, system).records()) ?? []
        return records.map { record in
            var record = record
            record.error = record.error.map { String($0.prefix { $0.isLetter }) }
            return record.json.compact + "\n"
        }.joined()
    }

    /// Returns the log. A line that quotes something, as lines of older versions do, is cut off at the quotation mark.
    private func log(_ text: String) -> String {
        guard !withValues else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let end = line.firstIndex { "\"'“”‘’\\".contains($0) }
            return end.map { line[..<$0] + "…" } ?? line
        }.joined(separator: "\n")
    }

    /// The catalogue without the literals of views, triggers, indexes, defaults and checks.
    private func schema(_ snapshot: StoreSnapshot) -> String {
        let columns = snapshot.catalogue.tables.flatMap { (snapshot.columns[$0.name] ?? []).map(\.name) }
        let names = Set((snapshot.catalogue.entries.map(\.name) + columns).map { $0.uppercased() })
        return snapshot.catalogue.entries.compactMap(\.sql)
            .map { withValues ? $0 : $0.withoutSQLLiterals(knowing: names) }.joined(separator: ";\n") + ";\n"
    }
}

extension String {
    /// The lines with control characters spelled out, so that a name in a store cannot control the reader's terminal.
    fileprivate var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
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

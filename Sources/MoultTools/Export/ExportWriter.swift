import Moult
import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

/// A writer of an export: a folder with a file for each part, or a database with a table for each.
///
/// Rows are streamed, so memory does not grow with the store. The result appears at its path only when it is complete.
package struct ExportWriter {
    /// The format of an export.
    package enum Format: String, Sendable, CaseIterable {
        case csv, jsonl, sqlite
    }

    /// A written part.
    package struct Written: Sendable, Equatable {
        package var name: String
        package var entity: String
        package var relationship: String?
        /// The name of the file or table.
        package var place: String
        package var rows: Int
    }

    /// The result of an export.
    package struct Outcome: Sendable {
        package var parts: [Written] = []
        /// The number of texts that were given a leading apostrophe (``CSVWriter``).
        package var guarded = 0
        /// The sub-entities of the chosen entities that were not chosen.
        package var leftOut: [String] = []
        /// The number of files of external data that are not there.
        package var missingFiles = 0
    }

    private let format: Format
    private let isExact: Bool
    private let system: any System
    private let isCancelled: @Sendable () -> Bool

    /// - Parameters:
    ///   - isExact: whether CSV leaves texts unchanged that a spreadsheet would read as formulas.
    ///   - isCancelled: whether to stop; called for each row.
    package init(
        _ format: Format, isExact: Bool = false, _ system: any System = POSIXSystem(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.format, self.isExact, self.system, self.isCancelled) = (format, isExact, system, isCancelled)
    }

    /// Exports a store.
    ///
    /// - Throws: `usage` if the path is taken; `locked` if another process is making the export or kept writing to the
    ///   store; `insufficientStorage` for a full volume; `CancellationError`; any error from the selection. No export
    ///   is left after an error.
    package func write(
        _ store: String, _ selection: StoreExport.Selection, versions: ModelVersions?, to path: String
    ) throws -> Outcome {
        let isStore = format == .sqlite
        let isFile = Self.isFile(path, format)
        let part = try StagedPath.begin(path, isStore: isStore, system)
        do {
            let outcome = try ReadOnlyStore.read(store, system: system) { probe in
                try system.removeTree(part)
                let export = try StoreExport(selection, of: probe, versions: versions, format, holdingLists: isFile)
                var outcome =
                    if isFile {
                        try file(export, at: part, named: Path.name(of: path), like: store)
                    } else if isStore {
                        try database(export, at: part, like: store)
                    } else {
                        try files(export, in: part, like: store)
                    }
                (outcome.leftOut, outcome.missingFiles) = (export.leftOut, export.missingFiles)
                return outcome
            }
            try system.synchronise(part)
            try StagedPath.end(part, as: path, isStore: isStore, system)
            return outcome
        } catch {
            _ = try? system.removeTree(part)
            throw error
        }
    }

    /// Whether a path names one file for the objects of one entity, and not a folder.
    static func isFile(_ path: String, _ format: Format) -> Bool {
        let endings = format == .jsonl ? [".jsonl", ".ndjson"] : [".\(format.rawValue)"]
        return format != .sqlite && endings.contains { path.lowercased().hasSuffix($0) }
    }

    // MARK: - Files

    private func file(_ export: StoreExport, at path: String, named name: String, like store: String) throws -> Outcome
    {
        guard let part = export.parts.first, export.parts.count == 1 else {
            throw MigrationError(
                .usage, "\(name) is one file, for the objects of one entity.", place: name,
                remedy: "Choose one with \(option: .entity("NAME")), or name a folder.")
        }
        var outcome = Outcome()
        try write(part, of: export, to: path, named: name, like: store, &outcome)
        return outcome
    }

    private func files(_ export: StoreExport, in folder: String, like store: String) throws -> Outcome {
        try system.makeFolder(folder, .like(store))
        var outcome = Outcome()
        var names = DistinctNames()
        for part in export.parts {
            let name = names.next(part.name.fileName) + ".\(format.rawValue)"
            try write(part, of: export, to: Path.join(folder, name), named: name, like: store, &outcome)
        }
        return outcome
    }

    private func write(
        _ part: ExportPart, of export: StoreExport, to file: String, named name: String, like store: String,
        _ outcome: inout Outcome
    ) throws {
        var text = ExportText(part, format, isExact: isExact)
        var bytes = Array(text.heading.utf8)
        try system.write([], to: file, .like(store))
        try export.forEachRow(of: part) { row in
            if isCancelled() { throw CancellationError() }
            text.append(row, to: &bytes)
            if bytes.count >= 1 << 19 {
                try system.append(bytes, to: file, .like(store))
                bytes.removeAll(keepingCapacity: true)
            }
            return true
        }
        try system.append(bytes, to: file, .like(store))
        try system.synchronise(file)
        outcome.guarded += text.guarded
        outcome.parts.append(
            Written(name: part.name, entity: part.entity, relationship: part.relationship, place: name, rows: text.rows)
        )
    }

    // MARK: - A database

    private func database(_ export: StoreExport, at path: String, like store: String) throws -> Outcome {
        try system.makeFile(path, .like(store))
        let connection = try Connection(path, mode: .readWrite, followsLinks: false, isProven: true)
        defer { connection.close() }
        // An incomplete database is deleted, so it needs no journal.
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        let names = Set(export.parts.map(\.name))
        return try connection.transaction {
            var outcome = Outcome()
            for part in export.parts {
                try connection.run(part.table(among: names))
                let marks = part.columns.map { _ in "?" }.joined(separator: ", ")
                let insert = try connection.prepare("INSERT INTO \(part.name.quotedName) VALUES (\(marks))")
                defer { insert.finalise() }
                var rows = 0
                try export.forEachRow(of: part) { row in
                    if isCancelled() { throw CancellationError() }
                    try insert.run(part.row(of: row))
                    insert.reset()
                    rows += 1
                    return true
                }
                outcome.parts.append(
                    Written(
                        name: part.name, entity: part.entity, relationship: part.relationship, place: part.name,
                        rows: rows))
            }
            return outcome
        }
    }
}

extension ExportPart {
    /// Returns the statement that creates the part's table.
    fileprivate func table(among names: Set<String>) -> String {
        let list = columns.map { column in
            let reference = column.reference.flatMap { names.contains($0) ? $0 : nil }
            return "\(column.name.quotedName) \(column.declaration)"
                + (reference.map { " REFERENCES \($0.quotedName) (Z_PK)" } ?? "")
        }
        return "CREATE TABLE \(name.quotedName) (\(list.joined(separator: ", ")))"
    }
}

extension String {
    /// The text as a valid file name, whatever it contains.
    var fileName: String {
        let plain = unicodeScalars.map { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" || scalar == "-"
                ? String(scalar) : "_"
        }.joined()
        var name = plain
        while name.utf8.count > 100 { name.unicodeScalars.removeLast() }
        return name.isEmpty ? "_" : name
    }
}

/// A report of the objects of a store, exported as CSV, JSON Lines or a plain SQLite database.
package struct ExportReport: ToolAnswer {
    private let path: String
    private let format: ExportFormat
    private let outcome: ExportWriter.Outcome

    /// Writes the export: a folder of files, or a database.
    ///
    /// - Throws: `usage` if the path is taken; any error from the selection or from writing.
    package init(
        _ store: String, _ selection: ExportSelection, _ format: ExportFormat, isExact: Bool, versions: ModelVersions?,
        to path: String, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        let writer = ExportWriter(format, isExact: isExact, isCancelled: isCancelled)
        outcome = try writer.write(store, selection, versions: versions, to: path)
        (self.path, self.format) = (path, format)
    }

    /// The number of texts that were given a leading apostrophe.
    package var guarded: Int { outcome.guarded }
    /// The sub-entities of the chosen entities that were not chosen.
    package var leftOut: [String] { outcome.leftOut }
    /// The number of files of external data that are not there.
    package var missingFiles: Int { outcome.missingFiles }

    /// Writes the objects of one entity as text.
    ///
    /// - Parameter write: takes each piece of the text, and returns whether to continue.
    /// - Returns: the number of texts that were given a leading apostrophe, the sub-entities that were left out, and the
    ///   number of missing files of external data.
    package static func write(
        _ store: String, _ selection: ExportSelection, _ format: ExportFormat, isExact: Bool, versions: ModelVersions?,
        _ write: (String) -> Bool
    ) throws -> (guarded: Int, leftOut: [String], missingFiles: Int) {
        let probe = try ReadOnlyStore(store)
        defer { probe.close() }
        return try probe.undisturbed {
            let export = try StoreExport(selection, of: probe, versions: versions, format, holdingLists: true)
            guard let part = export.parts.first else { return (0, export.leftOut, 0) }
            var text = ExportText(part, format, isExact: isExact)
            _ = write(text.heading)
            try export.forEachRow(of: part) { row in
                var line: [UInt8] = []
                text.append(row, to: &line)
                return write(String(decoding: line, as: UTF8.self))
            }
            return (text.guarded, export.leftOut, export.missingFiles)
        }
    }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path),
            "parts": .array(
                outcome.parts.map {
                    [
                        "name": .string($0.name), "entity": .string($0.entity),
                        "relationship": JSONValue($0.relationship), "place": .string($0.place),
                        "rows": JSONValue($0.rows),
                    ]
                }),
            "guarded": JSONValue(outcome.guarded),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(format == .sqlite ? "table" : "file"), .right("rows")])
        for part in outcome.parts { table.add(part.place, Quantity.count(part.rows)) }
        return table.lines(style: style)
    }
}

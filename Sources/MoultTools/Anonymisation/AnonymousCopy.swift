import Moult
import MoultBasics
import MoultEngine
import MoultSQLite
import MoultStore

/// A store of the same form as another, with stand-ins for its values.
///
/// The copy keeps everything that a migration depends on: types, lengths, NULLs, equality, uniqueness, order, links,
/// counts, intervals between dates, and the sizes of external files. No page, file or name contains a text of the
/// original.
package struct AnonymousCopy {
    /// The result of making an anonymous copy.
    package struct Outcome: Sendable {
        /// Values of one property that are the same as in the store.
        package struct Kept: Sendable, Equatable {
            /// The place of the values: `Entity.property`, or `TABLE.COLUMN` of a table that the model does not
            /// describe.
            package var place: String
            package var rule: StandInRules.Rule
            package var values: Int
        }

        package var seed: UInt64
        package var objects: [String: Int64] = [:]
        /// The number of distinct texts.
        package var texts = 0
        /// The number of texts whose stand-ins are not in the order of the originals.
        package var unordered = 0
        package var files = 0
        package var kept: [Kept] = []
        /// Full-text and other virtual tables, which are empty in the copy.
        package var emptied: [String] = []
        /// The number of short original texts that occur in the copy's bytes by chance, where two values meet.
        package var byChance = 0
    }

    private let store: String
    private let versions: ModelVersions?
    private let rules: StandInRules
    private let seed: UInt64
    private let system: any System

    package init(
        of store: String, versions: ModelVersions?, rules: StandInRules = StandInRules(), seed: UInt64,
        _ system: any System = POSIXSystem()
    ) {
        (self.store, self.versions, self.rules, self.seed, self.system) = (store, versions, rules, seed, system)
    }

    /// Makes the copy. The file appears at its path only when it is complete, and only the current user may read it.
    ///
    /// - Throws: `usage` if the path is taken or a rule names nothing; `modelNotFound` for a store without a model;
    ///   `locked` if another process kept writing to the store; `insufficientStorage`. No copy is left after an error.
    package func make(at path: String) throws -> Outcome {
        let places = [path, ExternalStorage(store: path).supportFolder]
        let copy = try StagedStore(at: path, taking: places, apartFrom: store, system)
        do {
            let outcome = try ReadOnlyStore.read(store, system: system) { probe in
                for left in [work(copy), copy.new, copy.support] { try system.removeTree(left) }
                return try fill(copy, from: probe)
            }
            try system.synchronise(copy.new)
            if let error = try copy.install(taking: places) { throw error }
            copy.remove()
            return outcome
        } catch {
            copy.remove()
            throw error
        }
    }

    private func work(_ copy: StagedStore) -> String { Path.join(copy.folder, "work") }

    private func fill(_ copy: StagedStore, from probe: ReadOnlyStore) throws -> Outcome {
        let work = work(copy)
        try system.makeFile(work, .own)
        let connection = try Connection(work, mode: .readWrite, followsLinks: false, isProven: true)
        defer { connection.close() }
        try Backup(from: probe.connection, to: connection).run(stepPages: 1_000) { _, _ in true }
        // A failed copy is deleted, so it needs no journal.
        try connection.execute(
            "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                + "PRAGMA ignore_check_constraints = ON")
        let database = try AnonymousDatabase(connection, probe, versions, rules, seed: seed)
        let files = AnonymousFiles(of: probe.path, system)
        var outcome = try connection.transaction { try database.replace(noting: files.note) }
        outcome.files = try files.write(to: copy.support, database.standIns, keeping: database.keptFiles)
        try system.makeFile(copy.new, .own)
        // VACUUM INTO writes live rows only: no freed pages and no remains of the originals.
        try WorkMeter.part(upTo: 0.9) { try connection.run("VACUUM INTO ?", [.text(copy.new)]) }
        connection.close()
        try system.remove(work)
        if try MissingLog.usesWAL(probe.path, system) {
            let new = try Connection(copy.new, mode: .readWrite, followsLinks: false, isProven: true)
            defer { new.close() }
            try new.proving { try new.execute("PRAGMA journal_mode = WAL") }
        }
        outcome.byChance = try search(copy, database)
        return outcome
    }

    /// Searches all bytes of the copy for original texts.
    ///
    /// - Returns: the number of texts found. A short one may occur where two values meet.
    /// - Throws: `verificationFailed` for a text that is too long to occur by chance.
    private func search(_ copy: StagedStore, _ database: AnonymousDatabase) throws -> Int {
        let originals = database.standIns.originals
        guard !originals.isEmpty else { return 0 }
        let externals = try system.exists(copy.support) ? system.files(below: copy.support) : []
        var found = originals.all(in: Array(externals.joined(separator: "\n").utf8))
        let kept = Set(database.keptFiles.map(database.standIns.fileName))
        let files = externals.filter { !kept.contains(Path.name(of: $0)) }.map { Path.join(copy.support, $0) }
        for file in [copy.new] + files {
            // Keep the end of the previous piece, so that a text across two pieces is found.
            var bytes: [UInt8] = []
            try system.readPieces(of: file) { piece in
                bytes = bytes.suffix(OriginalTexts.longest - 1) + piece
                found.formUnion(originals.all(in: bytes))
            }
        }
        for bytes in database.standIns.kept.union([database.schemaBytes]) { found.subtract(originals.all(in: bytes)) }
        let missed =
            try found.contains { $0.count >= 12 } ? "" : place(of: database.standIns.missed(found), in: copy.new)
        guard missed == nil else {
            throw MigrationError(
                .verificationFailed, "The copy still contained a text of the store, so it was removed.",
                place: missed.map { $0.isEmpty ? copy.path : $0 } ?? copy.path,
                remedy: "Run the command again with another \(option: .seed). If it fails again, report it.")
        }
        return found.count
    }

    /// Returns the first column in which a whole value is one of the texts, which is no coincidence; nil if there is
    /// none.
    private func place(of texts: Set<[UInt8]>, in path: String) throws -> String? {
        guard !texts.isEmpty else { return nil }
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        let catalogue = try connection.catalogue()
        let list = JSONValue.array(texts.map { .string($0.hexadecimal.uppercased()) }).compact
        // Z_PRIMARYKEY holds the names of entities.
        for table in catalogue.tables
        where !table.isVirtual && table.name != "Z_PRIMARYKEY" && !table.name.hasPrefix("sqlite_") {
            for column in try connection.storedColumns(of: table.name).map(\.name.quotedName) {
                let values = "FROM \(table.name.quotedName) NOT INDEXED WHERE typeof(\(column)) = 'text'"
                let isThere = try connection.integer(
                    "SELECT EXISTS (SELECT 1 \(values) AND hex(\(column)) IN (SELECT value FROM json_each(?)))",
                    [.text(list)])
                if isThere == 1 { return "\(table.name).\(column)" }
            }
        }
        return nil
    }
}

/// The external data files of an anonymous copy: the same number of files, of the same sizes.
struct AnonymousFiles {
    private let source: ExternalStorage
    private let system: any System

    init(of store: String, _ system: any System) {
        source = ExternalStorage(store: store)
        self.system = system
    }

    /// The names of the regular files.
    private var names: [String] {
        get throws {
            guard try system.status(of: source.folder)?.kind == .folder, try !system.isLink(source.folder) else {
                return []
            }
            return try system.list(source.folder).filter { try source.holds($0, on: system) }
        }
    }

    func note(_ standIns: StandIns) throws {
        for name in try names {
            _ = standIns.fileName(name)
            if let bytes = try source.contents(of: name, on: system) { _ = standIns.bytes(bytes) }
        }
    }

    /// - Returns: the number of files.
    func write(to support: String, _ standIns: StandIns, keeping kept: Set<String>) throws -> Int {
        guard try system.exists(source.folder) else { return 0 }
        let folder = Path.join(support, Path.name(of: source.folder))
        try system.makeFolder(support, .own)
        try system.makeFolder(folder, .own)
        let names = try names
        for name in names {
            guard let bytes = try source.contents(of: name, on: system) else { continue }
            let file = Path.join(folder, standIns.fileName(name))
            try system.write(kept.contains(name) ? bytes : standIns.bytes(bytes), to: file, .own)
            try system.synchronise(file)
        }
        for folder in [folder, support] { try system.synchronise(folder) }
        return names.count
    }
}

extension StandIns {
    /// Returns another name for a file, of the same length.
    func fileName(_ name: String) -> String { String(decoding: text(Array(name.utf8)), as: UTF8.self) }
}

/// The report of an anonymous copy, with the values that it keeps from the store.
package struct AnonymousReport: ToolAnswer {
    private let path: String
    private let outcome: AnonymousCopy.Outcome

    /// Makes the copy.
    ///
    /// - Parameter seed: the seed of the stand-ins; nil for a random one.
    /// - Throws: `usage` if the path is taken; any error from reading the store or writing the copy.
    package init(of store: String, versions: ModelVersions?, rules: StandInRules, seed: Int?, at path: String) throws {
        let seed = seed.map { UInt64($0) } ?? UInt64.random(in: 1...(1 << 53))
        outcome = try AnonymousCopy(of: store, versions: versions, rules: rules, seed: seed).make(at: path)
        self.path = path
    }

    package var document: JSONValue {
        let names = outcome.objects.keys.inByteOrder()
        return [
            "format": 1, "path": .string(path), "seed": JSONValue(Int(clamping: outcome.seed)),
            "entities": .array(names.map { ["name": .string($0), "rows": .integer(outcome.objects[$0] ?? 0)] }),
            "texts": JSONValue(outcome.texts), "unordered": JSONValue(outcome.unordered),
            "files": JSONValue(outcome.files),
            "kept": .array(
                outcome.kept.map {
                    ["place": .string($0.place), "rule": .string($0.rule.rawValue), "values": JSONValue($0.values)]
                }),
            "emptied": JSONValue(outcome.emptied), "byChance": JSONValue(outcome.byChance),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = [
            "Made \(path.printable): \(Quantity.count(outcome.objects.values.reduce(0, +), "object")) with stand-ins, seed \(outcome.seed)."
        ]
        if outcome.unordered > 0 {
            lines.append("\(Quantity.count(outcome.unordered, "text")) could not be kept in order.")
        }
        if !outcome.emptied.isEmpty {
            lines.append(
                "Empty in the copy, because only their modules know what they hold: \(outcome.emptied.map(\.printable).joined(separator: ", "))."
            )
        }
        if outcome.byChance > 0 {
            lines.append(
                "\(Quantity.count(outcome.byChance, "short text")) of the store \(outcome.byChance == 1 ? "occurs" : "occur") in the bytes by chance."
            )
        }
        guard !outcome.kept.isEmpty else { return lines }
        var table = TextTable([.left("as in the store"), .left("rule"), .right("values")])
        for kept in outcome.kept { table.add(kept.place.printable, kept.rule.rawValue, Quantity.count(kept.values)) }
        return lines + [""] + table.lines(style: style)
    }
}

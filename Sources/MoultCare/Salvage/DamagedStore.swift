import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The catalogue, metadata, entity numbers and model of a damaged store, read from the recovered tables. Missing parts
/// are noted.
struct DamagedStore {
    let catalogue: Catalogue
    let columns: TableColumns
    private(set) var metadata: StoreMetadata?
    /// By entity name, the entity's number and the highest key ever assigned.
    private(set) var numbers: [String: (number: Int64, max: Int64)] = [:]
    private(set) var notes: [String] = []
    /// The model inside the store; nil if it cannot be read.
    private let cache: StoreModelCache?
    private let place: String

    var uuid: String? { metadata.flatMap { $0.uuid.isEmpty ? nil : $0.uuid } }
    /// The framework level in the metadata, limited to the levels that Moult knows.
    var framework: Int? {
        metadata?.framework.flatMap { $0 >= FrameworkLevel.oldest.number ? min($0, FrameworkLevel.newest.number) : nil }
    }
    var hasHistory: Bool { columns["ACHANGE"] != nil && columns["ATRANSACTION"] != nil }

    /// - Parameters:
    ///   - recovered: the tables that were read from its pages.
    ///   - place: the store's own path, for errors.
    /// - Throws: `notAStore` if no table belongs to a store.
    init(_ recovered: Connection, place: String) throws {
        self.place = place
        cache = try? StoreModelCache(recovered, columns: recovered.columns(of: "Z_MODELCACHE"))
        let all = try recovered.catalogue()
        catalogue = Catalogue(entries: all.entries.filter { !$0.name.lowercased().hasPrefix("moult_") })
        let names = catalogue.tables.map(\.name)
        guard names.contains(where: { $0.hasPrefix("Z") }) else {
            throw MigrationError(
                .notAStore, "\(place) has no table of a Core Data store.", place: place,
                remedy: "Name a Core Data store; where the list of its tables is lost, name its model: "
                    + "\(option: .model("PATH")).")
        }
        columns = TableColumns(of: catalogue) { try? recovered.columns(of: $0) }
        metadata = try? StoreMetadata(from: recovered)
        if metadata == nil { notes.append("Its metadata cannot be read: the new store has a UUID of its own.") }
        try? recovered.forEachRow("SELECT Z_NAME, Z_ENT, \(PrimaryKeyRow.highestSQL) FROM Z_PRIMARYKEY") { row in
            numbers[row.text(0) ?? ""] = (row.integer(1), row.integer(2))
        }
        if numbers.isEmpty { notes.append("Its entity numbers cannot be read: those of a fresh store are taken.") }
    }

    /// Returns the layout of the damaged store by its own catalogue: which data is in which table and column.
    func layout(of model: ManagedObjectModel) -> StoreLayout {
        StoreLayout(
            damaged: catalogue, columns: columns, numbers: numbers.mapValues { Int(clamping: $0.number) }, model: model,
            framework: framework ?? FrameworkLevel.newest.number)
    }

    /// Returns the version of the model inside the store.
    ///
    /// - Throws: `storeCorrupted` if that page cannot be read; `modelNotFound`, `modelInvalid` as
    ///   ``StoreModelCache/version(of:in:)``.
    func ownVersion() throws -> ModelVersion {
        guard let cache else {
            throw MigrationError(
                .storeCorrupted, "The model inside the damaged store cannot be read.", place: place,
                remedy: "Name the model that made the store: \(option: .model("PATH")).")
        }
        return try cache.version(of: metadata, in: place)
    }

    /// Returns the entity numbers in a table of the damaged store, each with its number in the new store.
    func numbers(of table: EntityTable, in layout: StoreLayout) -> [(old: Int64, new: Int)] {
        guard let root = layout.model.entity(table.rootEntityName) else { return [] }
        return ([root] + layout.model.descendants(of: root)).compactMap { entity in
            layout.entityNumbers[entity.name].map { (numbers[entity.name]?.number ?? Int64($0), $0) }
        }
    }

    /// Returns the highest key ever assigned in a table.
    func counter(of table: EntityTable, in model: ManagedObjectModel) -> Int64? {
        guard let root = model.entity(table.rootEntityName) else { return nil }
        return ([root] + model.descendants(of: root)).compactMap { numbers[$0.name]?.max }.max()
    }

    /// Returns the numbers that differ from those of the new store, as branches of a CASE expression; empty if none do.
    func renumbering(in layout: StoreLayout) -> String {
        layout.entityNumbers.compactMap { name, new -> (Int64, Int)? in
            numbers[name].flatMap { $0.number == Int64(new) ? nil : ($0.number, new) }
        }.sorted { $0.0 < $1.0 }.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
    }
}

extension StoreMetadata {
    /// Returns the metadata of a fresh store with the application's entries of the damaged one.
    func keepApplicationEntries(in fresh: StoreMetadata) -> StoreMetadata {
        var kept = fresh
        for (key, value) in applicationEntries { kept.entries[key] = value }
        return kept
    }
}

/// The identity of a damaged store: its metadata and the model inside it, which determine its version. Both are read
/// from the pages, because SQLite may be unable to open the store.
struct DamagedIdentity {
    private let metadata: StoreMetadata?
    private let cache: StoreModelCache?
    private let place: String

    /// - Parameters:
    ///   - path: a file that nothing writes to.
    ///   - place: the store's own path, for names and errors.
    ///   - check: throws to end the work.
    /// - Throws: `notAStore` if no page is an SQLite page.
    init(of path: String, place: String, _ system: any System, check: @escaping () throws -> Void = {}) throws {
        self.place = place
        let statements = try StoreLayout(model: ManagedObjectModel(), history: false).createStatements
        let recovery = try PageRecovery(
            path, into: ":memory:", only: Set(StoreSnapshot.coreTables), system,
            optionalTables: StoreSnapshot.historyTables, highestKey: PrimaryKeyRow.highestSQL, check: check,
            hints: { _ in PageRecovery.Hints(statements: statements, numbers: [:]) })
        try recovery.run(place: place)
        let tables = recovery.database.connection
        metadata = try? StoreMetadata(from: tables)
        cache = try? StoreModelCache(tables, columns: tables.columns(of: "Z_MODELCACHE"))
        try recovery.database.close()
    }

    /// Whether the metadata can be read, so that the store says which version it is of.
    var saysVersion: Bool { metadata?.hashes != nil }

    /// Returns the version, with its evidence; nil if neither the metadata nor the model inside the store can be read,
    /// or if the version they name cannot be found.
    func version(in versions: ModelVersions) -> (ModelVersion, SalvageReport.Evidence)? {
        let own = try? cache?.version(of: metadata, in: place)
        guard let hashes = metadata?.hashes ?? own?.hashes else { return nil }
        if let place = versions.place(of: hashes, identifiers: metadata?.versionIdentifiers ?? []) {
            // A store of a configuration has no tables of the other entities.
            let version = (try? place.version.held(by: hashes)) ?? place.version
            return (version, metadata?.hashes == nil ? .model : .metadata)
        }
        return own.map { (versions.position(named: $0.name) == nil ? $0 : $0.calledTheStoresOwn, .model) }
    }
}

/// The losses that the recovery found in each table and in the pages, in the form of the report.
struct SalvageLosses {
    private(set) var tables: [String: SalvageReport.Table] = [:]
    let pages: SalvageReport.Pages
    private(set) var notes: [String] = []
    private(set) var remarks: [String] = []
    let rowsAside: Int64

    init(_ recovery: PageRecovery) throws {
        let unread = try recovery.unreadPages()
        for (index, table) in recovery.tables.enumerated() {
            let lost = try recovery.lost(index, unread).ranges
            let page = table.gaps.first { $0.page > 0 }?.page
            if table.isKeyed { notes += Self.notes(ofKeyed: table) }
            if recovery.tables[index].endsOpen {
                notes.append("Nothing says what the highest key of the table \(table.name) was: more rows may be lost.")
            }
            tables[table.name] = SalvageReport.Table(
                name: table.name, rows: table.rows,
                partialKeys: table.isKeyed ? [] : KeyRanges(table.partial.map { $0...$0 }).ranges,
                lostKeys: lost,
                listed: table.counted, counter: table.counter,
                cause: lost.isEmpty
                    ? nil
                    : page.map { "Page \($0) is damaged." }
                        ?? (table.gaps.isEmpty
                            ? "Rows that an index lists are gone." : "The list of tables is damaged."),
                isMissing: false)
        }
        let ledger = recovery.ledger
        pages = SalvageReport.Pages(
            count: recovery.pages.declaredCount, size: recovery.pages.pageSize, read: ledger.numbers(.read).count,
            free: ledger.numbers(.free).count,
            damaged: KeyRanges(ledger.numbers(.damaged).map { Int64($0)...Int64($0) }).ranges,
            unexplained: ledger.unknown.count + ledger.holes.count, missing: ledger.missing, reads: recovery.pages.reads
        )
        rowsAside = recovery.rowsAside
        noteSchema(recovery)
        noteLog(recovery.pages.log)
        if !ledger.isFreelistWhole { remarks.append("The list of free pages cannot be followed; it holds no rows.") }
        if let row = tables["Z_PRIMARYKEY"], !row.lostKeys.isEmpty {
            notes.append("Its entity numbers cannot all be read: those of a fresh store are taken.")
        }
    }

    /// Rows of a `WITHOUT ROWID` table have no row IDs to name them by.
    private static func notes(ofKeyed table: RecoveredTable) -> [String] {
        var notes: [String] = []
        if table.lacksKeyedRows {
            let pages = KeyRanges(table.gaps.filter { $0.page > 0 }.map { Int64($0.page)...Int64($0.page) })
            let missing = table.counted.map { "\(max($0 - table.rows, 0)) of \($0) rows" } ?? "Rows"
            notes.append(
                pages.ranges.isEmpty
                    ? "The root of the table \(table.name) is not known: rows of it may be missing."
                    : "\(missing) of the table \(table.name) are missing: page \(pages.words) cannot be read.")
        }
        if !table.partial.isEmpty {
            let rows = Quantity.count(Int64(table.partial.count), "row")
            notes.append("Of \(rows) of the table \(table.name), some values cannot be read.")
        }
        return notes
    }

    private mutating func noteSchema(_ recovery: PageRecovery) {
        if !recovery.isSchemaWhole {
            let lacking = recovery.tables.filter { $0.root == nil }.map(\.name).sorted()
            notes.append(
                "Its list of tables is damaged: there may have been tables that are not named here."
                    + (lacking.isEmpty
                        ? "" : " The columns of \(lacking.joined(separator: ", ")) are taken as the model has them."))
        }
        for name in recovery.schema.unreadable.sorted() {
            notes.append("The table \(name) is of a kind that is not read.")
        }
    }

    private mutating func noteLog(_ log: LogFrames) {
        if log.isHeaderDamaged {
            notes.append("Its WAL cannot be read: what was written since the last checkpoint is missing.")
        } else if log.unreadable > 0 {
            notes.append(
                "Of \(log.count) frames of its WAL, the last \(log.unreadable) cannot be read: the changes in them are "
                    + "missing.")
        }
        if log.isTorn { notes.append("Its WAL ends inside a frame: \(LogFrames.tornTail)") }
    }
}

extension DamagedStore {
    /// Returns remarks on other matters than the rows, in sentences.
    func remarks(_ version: ModelVersion) -> [String] {
        var remarks: [String] = []
        if hasHistory { remarks.append("Its persistent history is left behind: the new one begins empty.") }
        let hashes = version.hashes.entities
        let others = (metadata?.hashes?.entities ?? [:]).filter { hashes[$0.key] != $0.value }.keys.sorted()
        if !others.isEmpty {
            remarks.append(
                "The store's metadata name another version of \(others.joined(separator: ", ")) than the model: what has no "
                    + "place in the new store is kept next to it.")
        }
        return remarks
    }
}

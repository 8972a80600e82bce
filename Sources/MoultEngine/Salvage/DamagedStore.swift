import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// What a damaged store still says of itself: each part is asked alone, and what cannot be read is noted.
struct DamagedStore {
    private let catalogue: Catalogue
    private(set) var columns: [String: [Catalogue.Column]] = [:]
    private(set) var metadata: StoreMetadata?
    /// By entity's name, its number and the highest key that was handed out.
    private(set) var numbers: [String: (number: Int64, max: Int64)] = [:]
    private(set) var notes: [String] = []
    /// The model that it carries; nil where its page cannot be read.
    private let cache: StoreModelCache?
    private let place: String
    private var highestKeys: [String: Int64] = [:]

    var uuid: String? { metadata.flatMap { $0.uuid.isEmpty ? nil : $0.uuid } }
    var framework: Int? { metadata?.framework }
    var hasHistory: Bool { columns["ACHANGE"] != nil && columns["ATRANSACTION"] != nil }

    /// - Parameters:
    ///   - copy: of the store; SQLite may heal it.
    ///   - place: the store's own path, for errors.
    /// - Throws: `storeCorrupted` where the catalogue cannot be read, `notAStore` where it is none of a store.
    init(_ copy: String, place: String, _ system: any System) throws {
        let connection = try Self.open(copy, place, system)
        defer { connection.close() }
        self.place = place
        cache = try? StoreModelCache(connection, columns: connection.columns(of: "Z_MODELCACHE"))
        catalogue = try connection.catalogue()
        let names = catalogue.tables.map(\.name)
        guard names.contains(where: { $0.hasPrefix("Z") }) else {
            throw MigrationError(
                .notAStore, "\(place) has no table of a Core Data store.", place: place,
                remedy: "Name a Core Data store.")
        }
        for name in names {
            columns[name] = try? connection.columns(of: name)
            // A row takes eight bytes at least.
            let most = (try system.status(of: copy)?.size ?? 0) / 8
            highestKeys[name] = (try? connection.integer("SELECT max(rowid) FROM \(name.quotedName)") ?? 0) ?? most
        }
        metadata = try? StoreMetadata(from: connection)
        if metadata == nil { notes.append("Its metadata cannot be read: the new store has a UUID of its own.") }
        readNumbers(connection)
        if hasHistory { notes.append("Its persistent history is left behind: the new one begins empty.") }
    }

    /// A WAL that cannot be read is left out.
    private static func open(_ copy: String, _ place: String, _ system: any System) throws -> Connection {
        if let connection = try? readable(copy, place) { return connection }
        for suffix in StoreProbe.sideFileSuffixes { try system.remove(copy + suffix) }
        return try readable(copy, place)
    }

    private static func readable(_ copy: String, _ place: String) throws -> Connection {
        let connection = try Connection(copy, mode: .readWrite)
        do {
            _ = try connection.catalogue()
            return connection
        } catch var error as MigrationError {
            connection.close()
            error.place = place
            error.remedy = "Not even its list of tables can be read: use a backup."
            throw error
        }
    }

    private mutating func readNumbers(_ connection: Connection) {
        var found: [String: (number: Int64, max: Int64)] = [:]
        do {
            try connection.forEachRow("SELECT Z_NAME, Z_ENT, Z_MAX FROM Z_PRIMARYKEY") { row in
                found[row.text(0) ?? ""] = (row.integer(1), row.integer(2))
            }
        } catch {
            notes.append("Its entity numbers cannot all be read: those of a fresh store are taken.")
        }
        numbers = found
    }

    /// Which table and column holds what, by the store's own catalogue.
    func layout(of model: ManagedObjectModel) -> StoreLayout {
        StoreLayout(
            damaged: catalogue, columns: columns, numbers: numbers.mapValues { Int(clamping: $0.number) }, model: model,
            framework: framework ?? FrameworkLevel.newest.number)
    }

    /// The version that it carries itself.
    ///
    /// - Throws: `storeCorrupted` where that page cannot be read; `modelNotFound`, `modelInvalid` as
    ///   ``StoreModelCache/version(of:in:)``.
    func ownVersion() throws -> ModelVersion {
        guard let cache else {
            throw MigrationError(
                .storeCorrupted, "The model inside the damaged store cannot be read.", place: place,
                remedy: "Name the model that made the store: --model PATH.")
        }
        return try cache.version(of: metadata, in: place)
    }

    /// The highest key that can be read; zero where none can.
    func highest(_ table: String) -> Int64 { highestKeys[table] ?? 0 }

    /// The expression for an entity number of the new store where the damaged one numbers otherwise.
    func number(_ column: String, in layout: StoreLayout) -> String {
        let moved = layout.entityNumbers.compactMap { name, new -> (Int64, Int)? in
            numbers[name].flatMap { $0.number == Int64(new) ? nil : ($0.number, new) }
        }
        guard !moved.isEmpty else { return column }
        let cases = moved.sorted { $0.0 < $1.0 }.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
        return "CASE \(column) \(cases) ELSE \(column) END"
    }
}

extension StoreMetadata {
    /// A fresh store's metadata with what an application has written into these.
    func keepApplicationEntries(in fresh: StoreMetadata) -> StoreMetadata {
        var kept = fresh
        for (key, value) in applicationEntries { kept.entries[key] = value }
        return kept
    }
}

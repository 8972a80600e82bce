import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// The catalogue, metadata, entity numbers and model of a damaged store, by the tables that were recovered. What they
/// lack is noted.
struct DamagedStore {
    let catalogue: Catalogue
    let columns: TableColumns
    private(set) var metadata: StoreMetadata?
    /// By entity's name, its number and the highest key that was handed out.
    private(set) var numbers: [String: (number: Int64, max: Int64)] = [:]
    private(set) var notes: [String] = []
    /// The model that it carries; nil where it cannot be read.
    private let cache: StoreModelCache?
    private let place: String

    var uuid: String? { metadata.flatMap { $0.uuid.isEmpty ? nil : $0.uuid } }
    /// A level that Moult knows.
    var framework: Int? {
        metadata?.framework.flatMap { $0 >= FrameworkLevel.oldest.number ? min($0, FrameworkLevel.newest.number) : nil }
    }
    var hasHistory: Bool { columns["ACHANGE"] != nil && columns["ATRANSACTION"] != nil }

    /// - Parameters:
    ///   - recovered: the tables that were read out of its pages.
    ///   - place: the store's own path, for errors.
    /// - Throws: `notAStore` where there is no table of a store.
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

    /// Returns the layout of the damaged store: which table and column holds what, by the store's own catalogue.
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
                remedy: "Name the model that made the store: \(option: .model("PATH")).")
        }
        return try cache.version(of: metadata, in: place)
    }

    /// The numbers that rows of a table have in the damaged store, each with that of the new one.
    func numbers(of table: EntityTable, in layout: StoreLayout) -> [(old: Int64, new: Int)] {
        guard let root = layout.model.entity(table.rootEntityName) else { return [] }
        return ([root] + layout.model.descendants(of: root)).compactMap { entity in
            layout.entityNumbers[entity.name].map { (numbers[entity.name]?.number ?? Int64($0), $0) }
        }
    }

    /// The highest key that was handed out to objects of a table.
    func counter(of table: EntityTable, in model: ManagedObjectModel) -> Int64? {
        guard let root = model.entity(table.rootEntityName) else { return nil }
        return ([root] + model.descendants(of: root)).compactMap { numbers[$0.name]?.max }.max()
    }

    /// The numbers that differ from those of the new store, as the cases of an expression: empty where none does.
    func renumbering(in layout: StoreLayout) -> String {
        layout.entityNumbers.compactMap { name, new -> (Int64, Int)? in
            numbers[name].flatMap { $0.number == Int64(new) ? nil : ($0.number, new) }
        }.sorted { $0.0 < $1.0 }.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")
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

import MoultBasics
import MoultModel
import MoultSQLite

/// The objects of a store that neither its version nor the new one needs: indexes, triggers, views, virtual tables and
/// tables of an app, and objects left by earlier migrations.
///
/// They are kept unless they contradict the new version, which SQLite itself decides. Each object is used in an empty
/// database with the tables and indexes of the new version. If that fails, it is tried in another one with those of the
/// current store. An object that fails there too did not work before the migration either, and is kept.
package struct UserSchemaObjects: Sendable, Equatable {
    /// The objects to keep, in the order of the catalogue.
    package private(set) var kept: [Catalogue.Entry] = []
    private var keptNames: [Catalogue.Kind: Set<String>] = [:]
    /// The objects to drop.
    private(set) var dropped: [Verdict] = []
    /// The kept objects that do not work, and did not work before.
    private(set) var broken: [Verdict] = []

    /// The tables with a foreign key whose target no longer exists.
    private(set) var brokenKeys: [Verdict] = []
    /// The lost generated columns of Core Data's own tables.
    private(set) var lostColumns: [String] = []
    /// The kept triggers whose `UPDATE OF` lists removed columns.
    private(set) var deafTriggers: [Deaf] = []

    struct Deaf: Sendable, Equatable {
        let trigger: String
        let columns: [String]
    }

    /// An object, and the reason why it does not work.
    struct Verdict: Sendable, Equatable {
        let entry: Catalogue.Entry
        let reason: String
    }

    /// Creates an empty set of objects.
    init() {}

    /// - Parameters:
    ///   - catalogue: the catalogue of the store.
    ///   - source: the store before the migration.
    ///   - destination: a new store of the new version, with the generated columns to keep.
    ///   - columns: the lost generated columns, each with its table.
    ///   - isPending: whether a deferred migration has left indexes of the previous version.
    init(
        _ catalogue: Catalogue, from source: StoreLayout, to destination: StoreLayout,
        losing columns: [String] = [], isPending: Bool = false
    ) throws {
        lostColumns = columns
        // An object left by an earlier migration belongs to the new version if that has it with the same SQL.
        let asked = Set(destination.indexes.map(\.sql) + destination.triggers.map(\.sql))
        let foreign = ForeignObjects(catalogue, source, destination, isPending: isPending)
        let candidates = foreign.entries.filter { !asked.contains($0.sql ?? "") }
        guard !candidates.isEmpty else { return }
        let names = destination.objectNames
        var reasons: [Catalogue.Entry: String] = [:]
        for entry in candidates { reasons[entry] = Self.contradiction(of: entry, names) }
        let lost = Set(reasons.keys.filter { $0.kind == .table }.map(\.name))
        for entry in candidates where entry.kind == .index || entry.kind == .trigger {
            if lost.contains(entry.tableName) { reasons[entry] = "its table \(entry.tableName) is dropped" }
        }
        let left = candidates.filter { reasons[$0] == nil }
        var trials = try ObjectTrials(foreign, source, destination, without: Set(reasons.keys))
        defer { trials.close() }
        let (dropped, broken) = try trials.run(left)
        reasons.merge(dropped) { first, _ in first }
        let tables = left.filter { $0.kind == .table && !$0.isVirtual && reasons[$0] == nil }
        brokenKeys = try trials.brokenKeys(of: tables).map { Verdict(entry: $0.table, reason: $0.reason) }
        for entry in candidates {
            if let reason = reasons[entry] {
                self.dropped.append(Verdict(entry: entry, reason: reason))
            } else {
                kept.append(entry)
                keptNames[entry.kind, default: []].insert(entry.name)
                if let reason = broken[entry] { self.broken.append(Verdict(entry: entry, reason: reason)) }
            }
        }
        deafTriggers = kept.compactMap { entry in
            let awaited = entry.updatedColumns
            guard !awaited.isEmpty else { return nil }
            let before = source.columnNames(ofTable: entry.tableName)
            let after = destination.columnNames(ofTable: entry.tableName)
            let gone = awaited.filter { before.contains($0.uppercased()) && !after.contains($0.uppercased()) }
            return gone.isEmpty ? nil : Deaf(trigger: entry.name, columns: gone)
        }
    }

    private static func contradiction(of entry: Catalogue.Entry, _ names: Set<String>) -> String? {
        if names.contains(entry.name.uppercased()) { return "the new version has an object of that name" }
        // A unique index whose name begins with Z counts as Core Data's own; one of an app is not checked.
        if entry.isUnique, entry.name.hasPrefix("Z") { return "it refuses values that the new version allows" }
        return nil
    }

    /// Returns the losses of the dropped objects, with the rows of dropped tables. An index that Core Data created for
    /// an earlier version is not a loss.
    ///
    /// - Parameters:
    ///   - version: the name of the new version.
    ///   - connection: the store, as `main`.
    func losses(to version: String, over connection: Connection) throws -> [MigrationLoss] {
        let keys = brokenKeys.map { table in
            MigrationLoss(
                .constraint, .conflict, entity: table.entry.name, version: version, detail: table.reason)
        }
        return try keys
            + dropped.filter { !$0.entry.isCoreDataIndex }.map { object in
                var loss = MigrationLoss(
                    object.entry.lossKind, .conflict, entity: object.entry.name, version: version, detail: object.reason
                )
                if object.entry.kind == .table {
                    loss.count =
                        try connection.attempt {
                            try connection.integer("SELECT count(*) FROM main.\(object.entry.name.quotedName)")
                        } ?? nil
                }
                return loss
            }
    }

    /// Returns findings for kept objects that do not work, or work only in part.
    func findings(_ renamed: RenamedColumns) -> [Finding] {
        deafTriggers.map { deaf in
            let columns = deaf.columns.map { column in
                "\(column), which \(renamed.name(of: column).map { "is renamed to \($0)" } ?? "goes")"
            }.joined(separator: ", and of ")
            return Finding(
                code: "trigger-deaf", severity: .warning, place: deaf.trigger,
                message: "The trigger \(deaf.trigger) waits for the update of \(columns). It stays, and is silent "
                    + "there.",
                remedy: "Make the trigger again with the columns of the new version.")
        }
            + broken.map { object in
                Finding(
                    code: "object-broken", severity: .note, place: object.entry.name,
                    message:
                        "The \(object.entry.kind.rawValue) \(object.entry.name) does not work in the store as it is: "
                        + "\(object.reason). It stays as it is.")
            }
    }

    /// The reasons why the existing tables cannot be altered.
    var obstacles: [String] {
        // SQLite refuses to rename a table while a view does not work.
        broken.map(\.entry).filter { $0.kind == .view }.map { "the view \($0.name) does not work" }
            + brokenKeys.map { "a foreign key of the table \($0.entry.name) would lead nowhere" }
            + lostColumns.map { "the generated column \($0) leaves" }
    }

    func keeps(_ kind: Catalogue.Kind, _ name: String) -> Bool { keptNames[kind]?.contains(name) == true }

    func keeps(_ name: String) -> Bool { keptNames.values.contains { $0.contains(name) } }

    func entries(_ kind: Catalogue.Kind) -> [Catalogue.Entry] { kept.filter { $0.kind == kind } }

    /// Statements that drop the objects, except triggers, which are dropped in any case. A table's indexes are dropped
    /// before it.
    var dropStatements: [StoreScript.Statement] {
        let kinds: [(Catalogue.Kind, StoreScript.Statement.Kind)] = [
            (.index, .dropIndex), (.view, .dropView), (.table, .dropTable),
        ]
        return kinds.flatMap { kind, drop in
            dropped.map(\.entry).filter { $0.kind == kind }.map { entry in
                .init(
                    drop, entry.tableName, "DROP \(kind.rawValue.uppercased()) main.\(entry.name.quotedName)",
                    "Take the \(kind.rawValue) \(entry.name) away, which contradicts the new version.",
                    rows: kind == .table ? .unknown : 0)
            }
        }
    }

    /// Returns the kept objects of a kind that work.
    func working(_ kind: Catalogue.Kind) -> [Catalogue.Entry] {
        let broken = Set(broken.map(\.entry))
        return entries(kind).filter { !broken.contains($0) }
    }

    func drops(_ kind: Catalogue.Kind) -> [String] { dropped.map(\.entry).filter { $0.kind == kind }.map(\.name) }

    /// The kept R-trees that the model does not declare.
    var trees: [Catalogue.Entry] { kept.filter { $0.isVirtual && $0.name.hasPrefix("Z_RT_") } }
}

extension Catalogue.Entry {
    /// Whether the entry is an index in Core Data's own form, by its name and its text: for a relationship, an indexed
    /// attribute, a fetch index or a uniqueness constraint.
    var isCoreDataIndex: Bool {
        guard kind == .index, let sql else { return false }
        let start = "CREATE \(isUnique ? "UNIQUE INDEX" : "INDEX") \(name.sqlName) ON \(tableName.sqlName) ("
        guard sql.hasPrefix(start) else { return false }
        let columns = sql.dropFirst(start.count).prefix { $0 != ")" }.split(separator: ",")
            .map { $0.drop { $0 == " " } }
        let names = columns.map { $0.prefix { $0 != " " } }
        guard !names.isEmpty, names.allSatisfy({ $0.hasPrefix("Z") }) else { return false }
        if name.hasPrefix("Z_"), columns.allSatisfy({ $0.contains(" COLLATE BINARY ") }) { return true }
        // For a join table, the name contains only the first column.
        let plain = ["_\(names[0])_INDEX", "_\(names.joined(separator: "_"))"].map { tableName + $0 }
        return !isUnique && columns.map(String.init) == names.map(String.init) && plain.contains(name)
    }

    fileprivate var lossKind: MigrationLoss.Kind {
        switch kind {
        case .table: .table
        case .index: .index
        case .trigger: .trigger
        case .view: .view
        }
    }
}

extension StoreLayout {
    /// Returns the names of all columns of a table in capitals, including those added by an app.
    fileprivate func columnNames(ofTable name: String) -> Set<String> {
        let name = name.uppercased()
        let sql =
            tables.first { $0.name.uppercased() == name }?.sql ?? joinTables.first { $0.name.uppercased() == name }?.sql
        return Set((sql.flatMap(TableDefinition.init)?.parts ?? []).compactMap { $0.column?.uppercased() })
    }

    /// The names, in capitals, of every table, index, trigger and virtual table in a store of this layout.
    fileprivate var objectNames: Set<String> {
        let tables = tables.map(\.name) + joinTables.map(\.name) + virtualTables.map(\.name)
        return Set(
            (StoreSnapshot.coreTables + tables + indexes.map(\.name) + triggers.map(\.name)).map { $0.uppercased() })
    }
}

/// The objects of a store's catalogue that do not belong to its version.
struct ForeignObjects {
    let entries: [Catalogue.Entry]
    /// The store's tables except those of its model's entities and relationships, and the foreign indexes and views.
    let surroundings: [Catalogue.Entry]
    /// The tables among the surroundings that a migration drops or rebuilds.
    let leaving: Set<String>
    /// The indexes that belong to the version, or that Core Data maintains for itself.
    let ownIndexes: [Catalogue.Entry]
    /// The indexes of Core Data on tables of no entity or relationship, such as those of persistent history.
    let lastingIndexes: [Catalogue.Entry]

    /// - Parameter isPending: whether to treat every index whose name begins with Z as Core Data's own, because a
    ///   deferred migration leaves those of the previous version.
    init(_ catalogue: Catalogue, _ source: StoreLayout, _ destination: StoreLayout, isPending: Bool) {
        let numbering = EntityNumbering(of: source.model)
        let owned = OwnedNames(source, destination, numbering, catalogue)
        let entries = catalogue.entries.filter { entry in
            let isLate = isPending && entry.kind == .index && entry.name.hasPrefix("Z")
            return entry.sql != nil && !isLate && !owned.contains(entry)
        }
        self.entries = entries
        let own = Set(source.tables.map(\.name) + source.joinTables.map(\.name))
        surroundings = catalogue.entries.filter { entry in
            entry.kind == .table ? !own.contains(entry.name) : entry.kind != .trigger && entries.contains(entry)
        }
        let leaving = owned.trees.union(catalogue.tables.map(\.name).filter(DeferredName.isOne))
        self.leaving = leaving
        let foreign = Set(entries)
        ownIndexes = catalogue.entries.filter { $0.kind == .index && $0.sql != nil && !foreign.contains($0) }
        lastingIndexes = ownIndexes.filter { !own.contains($0.tableName) && !leaving.contains($0.tableName) }
    }
}

/// The names of the objects that Core Data creates for the version of a store, or maintains for itself in every store.
private struct OwnedNames {
    private let tables: Set<String>
    private let indexes: Set<String>
    let trees: Set<String>
    /// `_Entity_attribute_`, as contained in the names of kept triggers.
    private let keptDerivations: [String]

    init(_ source: StoreLayout, _ destination: StoreLayout, _ numbering: EntityNumbering, _ catalogue: Catalogue) {
        tables = Set(
            source.tables.map(\.name) + source.joinTables.map(\.name) + StoreSnapshot.historyTables
                + StoreSnapshot.coreTables + catalogue.shadowTables)
        indexes = Set(IndexDefinition.all(of: source, numbering: numbering).definitions.map(\.name))
        trees = Set(
            (RTreeIndex.all(of: source, numbering: numbering).map(\.table) + destination.virtualTables).map(\.name))
        let unkept = Set(destination.findings.filter { $0.code == "derived-not-kept" }.map(\.place))
        keptDerivations = destination.model.entities.flatMap { entity in
            entity.attributes.filter { attribute in
                attribute.derivation != nil
                    && source.model.entity(entity.name)?.attribute(attribute.name)?.derivation == attribute.derivation
                    && unkept.contains("\(entity.name).\(attribute.name)")
            }.map { "_\(entity.name)_\($0.name)_" }
        }
    }

    func contains(_ entry: Catalogue.Entry) -> Bool {
        switch entry.kind {
        case .table:
            tables.contains(entry.name) || trees.contains(entry.name) || DeferredName.isOne(entry.name)
                || entry.name.hasPrefix("sqlite_") || entry.name.hasPrefix("ANSCK")
        case .index:
            indexes.contains(entry.name) || StoreSnapshot.historyTables.contains(entry.tableName)
                || DeferredName.isOne(entry.tableName)
        case .trigger:
            switch Catalogue.TriggerKind(name: entry.name) {
            case .derivedAttribute: !keptDerivations.contains { entry.name.contains($0) }
            case .rTree: trees.contains { entry.name.hasPrefix($0 + "_") }
            case .photos, .unknown: false
            }
        case .view: false
        }
    }
}

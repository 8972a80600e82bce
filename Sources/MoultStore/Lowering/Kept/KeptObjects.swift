import MoultModel
import MoultSQLite

/// The objects of a store that neither its version nor the new one asks for: indexes, triggers, views, virtual tables
/// and tables of an app, and what earlier migrations have left.
///
/// They stay, unless they contradict the new version. Whether one does is asked of SQLite itself: it is made in an empty
/// database with the tables of the new version.
package struct KeptObjects: Sendable, Equatable {
    /// What stays, in the order of the catalogue.
    package private(set) var kept: [Catalogue.Entry] = []
    /// What goes.
    private(set) var dropped: [Dropped] = []

    /// An object that goes, with the reason.
    struct Dropped: Sendable, Equatable {
        let entry: Catalogue.Entry
        let reason: String
    }

    /// No object at all.
    init() {}

    /// - Parameters:
    ///   - catalogue: that of the store.
    ///   - source: the store as it is.
    ///   - destination: a fresh store of the new version.
    init(_ catalogue: Catalogue, from source: StoreLayout, to destination: StoreLayout) throws {
        // What an earlier migration left and the new version asks for in the same words is the new version's own.
        let asked = Set(destination.indexes.map(\.sql) + destination.triggers.map(\.sql))
        let candidates = ForeignObjects(catalogue, source, destination).entries.filter { entry in
            !asked.contains(entry.sql ?? "")
        }
        guard !candidates.isEmpty else { return }
        let names = destination.objectNames
        let own = Set(source.tables.map(\.name) + source.joinTables.map(\.name))
        let others = catalogue.tables.filter { !own.contains($0.name) && !names.contains($0.name.uppercased()) }
        let trial = try TargetTrial(destination, beside: others)
        defer { trial.close() }
        for entry in candidates {
            if let reason = Self.contradiction(of: entry, names) ?? trial.contradiction(of: entry) {
                dropped.append(Dropped(entry: entry, reason: reason))
            } else {
                kept.append(entry)
            }
        }
    }

    private static func contradiction(of entry: Catalogue.Entry, _ names: Set<String>) -> String? {
        if names.contains(entry.name.uppercased()) { return "the new version has an object of that name" }
        // Core Data's own names begin with Z_; an app's unique index is its own business.
        if entry.kind == .index, entry.name.hasPrefix("Z"), entry.sql?.hasPrefix("CREATE UNIQUE") == true {
            return "it refuses values that the new version allows"
        }
        return nil
    }

    /// What goes, one finding for each.
    func findings(over connection: Connection) throws -> [Finding] {
        try dropped.map { object in
            var rows = ""
            if object.entry.kind == .table {
                let count = try connection.integer("SELECT count(*) FROM main.\(object.entry.name.quotedName)") ?? 0
                rows = " with its \(count) rows"
            }
            return Finding(
                code: "object-dropped", severity: .warning, place: object.entry.name,
                message: "The \(object.entry.kind.rawValue) \(object.entry.name) is dropped\(rows): \(object.reason).",
                remedy: "The backup keeps it.")
        }
    }

    func keeps(_ kind: Catalogue.Kind, _ name: String) -> Bool { kept.contains { $0.kind == kind && $0.name == name } }

    func entries(_ kind: Catalogue.Kind) -> [Catalogue.Entry] { kept.filter { $0.kind == kind } }

    func drops(_ kind: Catalogue.Kind) -> [String] { dropped.map(\.entry).filter { $0.kind == kind }.map(\.name) }

    /// The R-trees that stay although the model does not ask for them.
    var trees: [Catalogue.Entry] { kept.filter { $0.isVirtual && $0.name.hasPrefix("Z_RT_") } }
}

extension StoreLayout {
    /// In capitals, the name of every table, index, trigger and virtual table that a store of this layout has.
    fileprivate var objectNames: Set<String> {
        let core = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
        let tables = tables.map(\.name) + joinTables.map(\.name) + virtualTables.map(\.name)
        return Set((core + tables + indexes.map(\.name) + triggers.map(\.name)).map { $0.uppercased() })
    }
}

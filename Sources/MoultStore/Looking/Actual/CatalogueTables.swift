import MoultModel
import MoultSQLite

/// The tables of a store, of which entities and relationships claim theirs one after the other.
struct CatalogueTables {
    private let snapshot: StoreSnapshot
    private var claimed: Set<String> = []

    init(_ snapshot: StoreSnapshot) { self.snapshot = snapshot }

    struct Table {
        let name: String
        let sql: String
        let columns: [Catalogue.Column]
    }

    /// The first table that nobody has claimed and `fits`, in the order of the catalogue.
    mutating func claim(where fits: (String) -> Bool) -> Table? {
        let entry = snapshot.catalogue.tables.first {
            !claimed.contains($0.name) && !$0.isVirtual && snapshot.columns[$0.name] != nil && fits($0.name)
        }
        guard let entry, let columns = snapshot.columns[entry.name] else { return nil }
        claimed.insert(entry.name)
        return Table(name: entry.name, sql: entry.sql ?? "", columns: columns)
    }

    /// The table of the first of the names that there is; SQLite's names ignore case.
    mutating func claim(named names: [String]) -> Table? {
        for name in names {
            if let table = claim(where: { $0 == name }) ?? claim(where: { $0.uppercased() == name.uppercased() }) {
                return table
            }
        }
        return nil
    }

    /// A note for each table that belongs to no entity, to no relationship and not to Core Data itself.
    func unexplained() -> [Finding] {
        let virtual = snapshot.catalogue.tables.filter(\.isVirtual).map(\.name)
        let known = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"] + StoreSnapshot.historyTables + virtual
        let shadows = Set(virtual.flatMap { name in ["_rowid", "_node", "_parent"].map { name + $0 } })
        return snapshot.catalogue.tables.map(\.name).filter { name in
            !claimed.contains(name) && !known.contains(name) && !shadows.contains(name)
                && !name.hasPrefix("sqlite_") && !name.hasPrefix("ANSCK") && !DeferredName.isOne(name)
        }.map { name in
            Finding(
                code: "table-unknown", severity: .warning, place: name,
                message: "No part of the model explains the table \(name).",
                remedy: "Moult leaves it as it is; say whose it is before you migrate.")
        }
    }
}

import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// Notes which objects and properties fixes may have changed, so that the verification accepts these and nothing else.
///
/// It lies in temporary tables of the connection: `moult_fixed` (table, key, property), `moult_gone` and `moult_new`
/// (table, key).
struct RuleLedger {
    private let store: ObjectStore
    private let fixed: Statement
    private let gone: Statement
    private let new: Statement

    init(_ store: ObjectStore, _ connection: Connection) throws {
        self.store = store
        try Self.makeTables(connection)
        fixed = try connection.prepare("INSERT OR IGNORE INTO temp.moult_fixed VALUES (?, ?, ?)")
        gone = try connection.prepare("INSERT OR IGNORE INTO temp.moult_gone VALUES (?, ?)")
        new = try connection.prepare("INSERT OR IGNORE INTO temp.moult_new VALUES (?, ?)")
    }

    static func makeTables(_ connection: Connection) throws {
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS moult_fixed (
                tbl TEXT, key INTEGER, property TEXT, PRIMARY KEY (tbl, key, property)) WITHOUT ROWID;
            CREATE TEMP TABLE IF NOT EXISTS moult_gone (tbl TEXT, key INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID;
            CREATE TEMP TABLE IF NOT EXISTS moult_new (tbl TEXT, key INTEGER, PRIMARY KEY (tbl, key)) WITHOUT ROWID
            """)
    }

    func noteChange(of ids: [ObjectID], _ properties: [String]) throws {
        for id in ids {
            let table = try store.columns(of: id.entityName).table
            for property in properties { try fixed.note([.text(table), .integer(id.key), .text(property)]) }
        }
    }

    func noteRemoval(of ids: [ObjectID]) throws {
        for id in ids { try gone.note([.text(try store.columns(of: id.entityName).table), .integer(id.key)]) }
    }

    func noteInsertion(of ids: [ObjectID]) throws {
        for id in ids { try new.note([.text(try store.columns(of: id.entityName).table), .integer(id.key)]) }
    }
}

extension Statement {
    fileprivate func note(_ values: [SQLiteValue]) throws {
        try run(values)
        reset()
    }
}

import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@Suite struct StoreSnapshotTests {  // tier: long
    @Test(.enabled(if: Corpus.isAvailable), arguments: Corpus.stores)
    func `a real store says who it is, as the sqlite3 shell reads it`(path: String) throws {
        try ReadOnlyStore.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let copy = try ScratchFolder().witness(of: path)
            #expect(snapshot.metadata.uuid == (try copy("SELECT Z_UUID FROM Z_METADATA")))
            #expect((230...1526).contains(snapshot.framework.number))
            let rows = snapshot.primaryKeyRows.map { "\($0.number)|\($0.name)|\($0.superNumber)|\($0.max)" }
            #expect(rows.joined(separator: "\n") == (try copy("SELECT * FROM Z_PRIMARYKEY ORDER BY Z_ENT")))
            let names = snapshot.catalogue.entries.map(\.name)
            #expect(names.joined(separator: "\n") == (try copy("SELECT name FROM sqlite_master")))
            let columns = snapshot.catalogue.tables.flatMap { table in
                (snapshot.columns[table.name] ?? []).map { column in
                    "\(table.name)|\(column.name)|\(column.declaredType)|\(column.isNotNull ? 1 : 0)|"
                        + "\(column.defaultValue ?? "")|\(column.primaryKeyPosition)"
                }
            }
            #expect(columns.joined(separator: "\n") == (try copy(Self.columns)))
            #expect("\(snapshot.file.pageCount)" == (try copy("PRAGMA page_count")))
            #expect(Set(snapshot.hashes.entities.values.map(\.count)) == [32])
            #expect(snapshot.framework.hasModelCache == (snapshot.cachedModel != nil))
            #expect(CorpusStores.withModel.contains(path) == (snapshot.cachedModel != nil))
        }
    }

    private static let columns = """
        SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
        FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.rootpage > 0
        ORDER BY t.rowid, c.cid
        """

    /// What may stand in a table's text, each of it with what SQLite says of the columns.
    @Test(arguments: [
        "CREATE TABLE T ( A INTEGER PRIMARY KEY, B VARCHAR, c_1 FLOAT )", "CREATE TABLE T ( A INTEGER, B VARCHAR)",
        "CREATE TABLE T (A INTEGER, B VARCHAR )", "CREATE TABLE \"T\" ( A INTEGER )", "CREATE TABLE T ( A UNIQUE )",
        "CREATE TABLE T ( A INTEGER UNIQUE )", "CREATE TABLE T ( A INTEGER NOT NULL )", "CREATE TABLE T ( A )",
        "CREATE TABLE T ( A VARCHAR PRIMARY KEY, B BLOB )", "CREATE TABLE T ( A INTEGER,B VARCHAR )",
        "CREATE TABLE T ( A INTEGER, B VARCHAR , C BLOB )", "CREATE TABLE T ( A  INTEGER, B VARCHAR )",
        "CREATE TABLE T ( A INTEGER, \"B c\" VARCHAR )", "CREATE TABLE T ( A INTEGER /* , */ , B BLOB )",
        "CREATE TABLE T ( A INTEGER, B VARCHAR DEFAULT ', C INTEGER' )", "CREATE TABLE T ( A VARCHAR(255), B BLOB )",
        "CREATE TABLE T ( A INTEGER, B VARCHAR, UNIQUE (A, B) )", "CREATE TABLE T ( A INTEGER, B VARCHAR, UNIQUE(B) )",
        "CREATE TABLE T ( A INTEGER, B BLOB AS (A) )", "CREATE TABLE T ( A integer, B Varchar )",
        "CREATE TABLE T ( A INTEGER PRIMARY KEY AUTOINCREMENT )", "CREATE TABLE T ( A INTEGER PRIMARY KEY DESC )",
        "CREATE TABLE T ( É VARCHAR )", "CREATE TABLE T ( A INTEGER,\n B VARCHAR )",
        "CREATE TABLE T ( A VARCHAR BLOB )",
        "CREATE TABLE T ( KEY VARCHAR, A BLOB )", "CREATE TABLE T (A INTEGER PRIMARY KEY, B VARCHAR(255), C BLOB)",
        "CREATE TABLE T ( A INTEGER, CONSTRAINT BLOB )", "CREATE TABLE T (A INTEGER, B VARCHAR(255), constraint BLOB)",
        "CREATE TABLE T ( A INTEGER, CONSTRAINTS BLOB )", "CREATE TABLE T (  A INTEGER )",
        "CREATE TABLE T (A INTEGER  )",
        "CREATE TABLE T (A INTEGER) STRICT", "CREATE TABLE T (A INTEGER PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE T (A VARCHAR(25))", "CREATE TABLE T ( A INTEGER, B INTEGER, PRIMARY KEY (A, B) )",
        "CREATE TABLE T ( A INTEGER, B INTEGER, PRIMARY KEY (B, A) )", "CREATE TABLE T ( A INTEGER, PRIMARY KEY (a) )",
        "CREATE TABLE T ( A INTEGER, B BLOB, PRIMARY KEY (A DESC) )",
        "CREATE TABLE T ( A INTEGER, PRIMARY KEY (A, A) )",
        "CREATE TABLE T ( A BLOB, PRIMARY KEY (A), UNIQUE (A) )",
        "CREATE TABLE T ( A BLOB, PRIMARY KEY (A) ON CONFLICT FAIL )",
    ])
    func `the columns that a table's text says are those that SQLite says`(sql: String) throws {
        let connection = try Connection(":memory:", mode: .create)
        try connection.execute(sql)
        let read = try connection.rows(Self.columns) { row in
            Catalogue.Column(
                name: row.text(1) ?? "", declaredType: row.text(2) ?? "", isNotNull: row.integer(3) != 0,
                defaultValue: row.text(4), primaryKeyPosition: Int(row.integer(5)))
        }
        let table = try #require(try connection.catalogue().tables.first { $0.name == "T" })
        if let plain = table.plainColumns { #expect(plain == read) }
        #expect(
            (table.plainColumns != nil) == Self.plainTexts.contains(sql) && table.isPlain == (table.plainColumns != nil)
        )
    }

    private static let plainTexts = [
        "CREATE TABLE T ( A INTEGER PRIMARY KEY, B VARCHAR, c_1 FLOAT )", "CREATE TABLE T ( A INTEGER, B VARCHAR)",
        "CREATE TABLE T (A INTEGER, B VARCHAR )", "CREATE TABLE T ( A VARCHAR(255), B BLOB )",
        "CREATE TABLE T ( A VARCHAR PRIMARY KEY, B BLOB )", "CREATE TABLE T ( KEY VARCHAR, A BLOB )",
        "CREATE TABLE T (A INTEGER PRIMARY KEY, B VARCHAR(255), C BLOB)",
        "CREATE TABLE T ( A INTEGER, CONSTRAINTS BLOB )",
        "CREATE TABLE T ( A INTEGER, B INTEGER, PRIMARY KEY (A, B) )",
        "CREATE TABLE T ( A INTEGER, B INTEGER, PRIMARY KEY (B, A) )",
    ]

    @Test(.enabled(if: Corpus.isAvailable)) func `no more stores than those of iOS 8 and before are without a model`() {
        #expect(CorpusStores.withModel.count >= max(1, Corpus.stores.count - 6))
    }

    @Test(.enabled(if: Corpus.isAvailable), arguments: CorpusStores.withModel)
    func `every table and column of a real store is explained by its own model`(path: String) throws {
        try ReadOnlyStore.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let model = try #require(snapshot.cachedModel)
            let layout = try StoreLayout(actual: snapshot, model: model)
            #expect((snapshot.findings + layout.findings).filter { $0.severity > .note } == [])
            #expect(layout.entityNumbers.count == snapshot.entityRows.count)
            #expect(Set(layout.entityNumbers.values) == Set(snapshot.entityRows.map(\.number)))
            #expect(layout.tables.flatMap(\.columns).filter { $0.role == .unknown } == [])
            for entity in model.entities {
                for relationship in model.relationships(of: entity) where !relationship.isTransient {
                    #expect(layout.storage(ofRelationship: relationship.name, in: entity) != nil)
                }
            }
        }
    }
}

extension ScratchFolder {
    /// What the sqlite3 shell answers over a copy of a store, without the last line's end.
    func witness(of store: String) throws -> (String) throws -> String {
        let copy = try copyStore(store)
        return { sql in
            let text = try SQLiteShell.run(copy, sql)
            withExtendedLifetime(self) {}
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
    }
}

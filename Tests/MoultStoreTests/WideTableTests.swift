import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import TestSupport
import Testing

@testable import MoultStore

/// What SQLite cannot hold is refused before anything is made; what it just holds is made.
struct WideTableTests {
    private func layout(attributes: Int) throws -> StoreLayout {
        let attributes = (0..<attributes).map { AttributeDescription(name: "a\($0)", type: .integer32) }
        return try StoreLayout(
            model: ManagedObjectModel(entities: [
                EntityDescription(name: "Wide"),
                EntityDescription(name: "Wider", superentityName: "Wide", attributes: attributes),
            ]))
    }

    @Test func `a table has as many columns as SQLite holds`() throws {
        let widest = try layout(attributes: StoreLayout.columnLimit - 3)
        let folder = try ScratchFolder()
        let sql = try #require(widest.tables.first?.sql)
        #expect(try SQLiteShell.run(folder.path + "/wide.sqlite", "\(sql); SELECT count(*) FROM ZWIDE") == "0\n")
    }

    @Test func `one column more is refused, by name`() throws {
        let error = #expect(throws: MigrationError.self) {
            _ = try layout(attributes: StoreLayout.columnLimit - 2)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.place == "Wide")
        #expect(error?.message.contains("2001 columns") == true, "\(error?.message ?? "")")
    }
}

/// Long lists in SQL that SQLite takes and that mean what short ones do.
struct LongListTests {  // tier: long
    private func value(_ sql: SQLText) throws -> Int64? {
        let connection = try Connection(":memory:", mode: .create)
        defer { connection.close() }
        return try connection.integer(sql)
    }

    @Test(arguments: [0, 1, 99, 100, 101, 1_001, 20_000]) func `as many conditions as there are`(count: Int) throws {
        let none = (0..<count).map { "\($0) IS NOT \($0)" as SQLText }
        let all = (0..<count).map { "\($0) IS \($0)" as SQLText }
        guard count > 0 else { return }
        #expect(try value("SELECT \(none.conditions(joinedBy: "OR"))") == 0)
        #expect(try value("SELECT \((none + ["1"]).conditions(joinedBy: "OR"))") == 1)
        #expect(try value("SELECT \(all.conditions(joinedBy: "AND"))") == 1)
        #expect(try value("SELECT \((["0"] + all).conditions(joinedBy: "AND"))") == 0)
    }

    @Test(arguments: [0, 1, 2, 100, 101, 10_001]) func `the first value and all rows`(count: Int) throws {
        let nulls = [SQLText](repeating: "NULL", count: count)
        #expect(try value("SELECT \((nulls + ["7", "8"]).coalesced)") == 7)
        let queries = (0...count).map { "SELECT \($0) AS number" as SQLText }
        #expect(try value("SELECT sum(number) FROM (\(queries.united))") == Int64(count * (count + 1) / 2))
    }
}

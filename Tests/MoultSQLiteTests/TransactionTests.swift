import MoultSQLite
import Testing

struct TransactionTests {
    private struct Failure: Error {}

    /// SQLite ends a transaction by itself, for instance where it has no memory; `ROLLBACK` stands for that here.
    @Test func `an attempt that has ended the transaction around it fails`() throws {
        let connection = try Connection(":memory:", mode: .create)
        try connection.execute("CREATE TABLE t (a); BEGIN")
        #expect(try connection.attempt { try connection.integer("SELECT 1") } == 1)
        #expect(try connection.attempt { try connection.integer("SELECT nothing") } == nil)
        #expect(connection.isInTransaction)
        #expect(throws: Failure.self) {
            _ = try connection.attempt {
                try connection.execute("ROLLBACK")
                throw Failure()
            }
        }
        // Outside of a transaction nothing is lost.
        #expect(try connection.attempt { throw Failure() } == nil)
    }
}

import MoultBasics
import MoultModel
import MoultSQLite
import TestSupport
import Testing

struct FunctionTests {
    let folder: ScratchFolder
    let connection: Connection

    init() throws {
        folder = try ScratchFolder()
        connection = try Connection(folder.path + "/a.sqlite", mode: .create)
    }

    @Test func `arguments and results of every storage class pass through`() throws {
        try connection.register(SQLiteFunction("same", argumentCount: 1) { $0[0] })
        let long = String(repeating: "swift ü ", count: 100)
        let values: [SQLiteValue] = [
            .null, .integer(-7), .real(1.5), .text("ü\0z"), .text(long), .blob([1, 0]), .blob([]), "",
        ]
        for value in values { #expect(try connection.value("SELECT same(?)", [value]) == value) }
    }

    @Test func `what a function throws is what the statement throws`() throws {
        struct Fault: Error, Equatable { var row: Int64 }
        try connection.register(SQLiteFunction("fail", argumentCount: 1) { throw Fault(row: $0.integer(0)) })
        #expect(throws: Fault(row: 3)) { try connection.run("SELECT fail(3)") }
        #expect(throws: MigrationError.self) { try connection.run("SELECT nothing") }
    }

    @Test func `a trigger may call Core Data's functions and no other`() throws {
        try connection.registerCoreDataStubs()
        try connection.register(SQLiteFunction("mine", argumentCount: 0) { _ in 1 })
        try connection.execute(
            """
            CREATE TABLE t (v); CREATE TABLE u (v);
            CREATE TRIGGER a AFTER INSERT ON t BEGIN
                SELECT NSCoreDataTriggerUpdateAffectedObjectValue('E', 1, 'p', new.v); END;
            CREATE TRIGGER b AFTER INSERT ON u BEGIN SELECT mine(); END
            """)
        try connection.run("INSERT INTO t VALUES (1)")
        #expect(throws: MigrationError.self) { try connection.run("INSERT INTO u VALUES (1)") }
    }
}

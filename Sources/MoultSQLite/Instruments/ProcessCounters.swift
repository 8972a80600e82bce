import CSQLite
import MoultBasics
import Synchronization

/// A counter of SQLite's allocations that can make one of them, or all from one on, fail as if memory had run out.
///
/// It affects the whole process, so use it only in a program that does nothing else meanwhile.
package enum AllocationFaults {
    private static let count = Atomic<Int>(0)
    private static let first = Atomic<Int>(.max)
    private static let last = Atomic<Int>(.max)

    private struct Methods: @unchecked Sendable {
        var original = sqlite3_mem_methods()
    }

    nonisolated(unsafe) private static var methods = Methods()

    /// Installs the counter between SQLite and its allocator.
    ///
    /// - Returns: false if SQLite is already in use, because it no longer accepts another allocator.
    package static let isInstalled: Bool = {
        guard moult_sqlite_get_allocator(&methods.original) == SQLITE_OK else { return false }
        var watched = methods.original
        watched.xMalloc = { size in
            AllocationFaults.isRefused() ? nil : AllocationFaults.methods.original.xMalloc?(size)
        }
        watched.xRealloc = { memory, size in
            AllocationFaults.isRefused() ? nil : AllocationFaults.methods.original.xRealloc?(memory, size)
        }
        return moult_sqlite_set_allocator(&watched) == SQLITE_OK
    }()

    /// Restarts the count at 1. Allocation `number` fails, and with `staysOut` all later ones too; with nil, none
    /// fails.
    package static func begin(failing number: Int? = nil, staysOut: Bool = false) {
        count.store(0, ordering: .relaxed)
        last.store(number == nil || staysOut ? .max : number ?? .max, ordering: .relaxed)
        first.store(number ?? .max, ordering: .relaxed)
    }

    /// Stops the failures and returns the number of allocations since the start.
    package static func end() -> Int {
        first.store(.max, ordering: .relaxed)
        return count.load(ordering: .relaxed)
    }

    /// Whether one has failed since the start; false once they have been stopped.
    package static var hasRefused: Bool { count.load(ordering: .relaxed) >= first.load(ordering: .relaxed) }

    private static func isRefused() -> Bool {
        let number = count.add(1, ordering: .relaxed).newValue
        return number >= first.load(ordering: .relaxed) && number <= last.load(ordering: .relaxed) && number != .max
    }
}

/// A counter of the virtual machine steps of each statement, on every connection opened to a file in a folder: a
/// measure of a statement's cost that does not depend on the load of the machine.
///
/// It affects the whole process and slows every connection down a little. For tests only.
package enum StatementSteps {
    /// For each folder, the steps of each statement, keyed by its text.
    private static let counts = Mutex<[String: [String: Int]]>([:])

    /// Returns the total steps of each statement that `body` runs on connections it opens to files below `folder`.
    /// Statements that differ only in numbers and blobs count as one.
    package static func counting(below folder: String, _ body: () throws -> Void) throws -> [String: Int] {
        guard isInstalled else {
            throw MigrationError(
                .unsupported, "This SQLite cannot count the steps of statements.",
                remedy: "Count them on Linux: Apple's SQLite refuses extensions of the whole process.")
        }
        counts.withLock { $0[folder] = [:] }
        defer { counts.withLock { $0[folder] = nil } }
        try body()
        return counts.withLock { $0[folder] ?? [:] }
    }

    private static let isInstalled: Bool = {
        typealias Extension = @convention(c) () -> Void
        typealias Opening = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
        let opening: Opening = { database, _, _ in
            sqlite3_trace_v2(
                database, UInt32(SQLITE_TRACE_PROFILE),
                { _, _, statement, _ in
                    StatementSteps.note(statement.map(OpaquePointer.init))
                    return 0
                }, nil)
        }
        // SQLite's declaration omits the arguments.
        return sqlite3_auto_extension(unsafeBitCast(opening, to: Extension.self)) == SQLITE_OK
    }()

    private static func note(_ statement: OpaquePointer?) {
        let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
        guard let text = sqlite3_sql(statement), let name = sqlite3_db_filename(sqlite3_db_handle(statement), "main")
        else { return }
        let (file, sql) = (String(cString: name), shape(of: String(cString: text)))
        counts.withLock { counts in
            for folder in counts.keys where file.hasPrefix(folder) { counts[folder]?[sql, default: 0] += Int(steps) }
        }
    }

    /// Returns the text with each number replaced by 0 and each blob emptied.
    private static func shape(of sql: String) -> String {
        var shape: [UInt8] = []
        var isInBlob = false
        for byte in sql.utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isInBlob {
                isInBlob = byte != UInt8(ascii: "'")
                if isInBlob { continue }
            } else if byte == UInt8(ascii: "'"), shape.last == UInt8(ascii: "x") {
                isInBlob = true
            }
            if isDigit, shape.last == UInt8(ascii: "0") { continue }
            shape.append(isDigit ? UInt8(ascii: "0") : byte)
        }
        return String(decoding: shape, as: UTF8.self)
    }
}

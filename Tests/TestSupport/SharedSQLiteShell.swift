import Foundation
import Synchronization

/// A sqlite3 shell that stays for those who ask about one store after another, where starting one for each would take
/// longest.
package enum SharedSQLiteShell {
    /// For one caller at a time.
    private struct Idle: @unchecked Sendable { let process: SQLiteProcess }

    private static let idle = Mutex<[Idle]>([])

    /// What a command prints of the store, which nobody has open when it returns.
    package static func run(_ path: String, _ command: String) throws -> String {
        let shell = try idle.withLock { $0.popLast() } ?? Idle(process: SQLiteProcess(":memory:"))
        let open = ".open '\(path.replacing("'", with: "''"))'"
        let text = try shell.process.run("\(open)\n\(command)\n.open :memory:")
        idle.withLock { $0.append(shell) }
        return text
    }
}

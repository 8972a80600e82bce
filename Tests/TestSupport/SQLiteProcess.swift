import Foundation

/// A sqlite3 shell that stays: another process with a database open, told what to do line by line.
package final class SQLiteProcess {
    private let process: ChildProcess
    private var count = 0

    package init(_ path: String, environment: [String: String] = [:]) throws {
        process = try ChildProcess(
            "sqlite3", ["-batch", path], output: .read, feeds: true, environment: environment)
    }

    deinit { end() }

    package var identifier: Int32 { process.identifier }

    /// Runs SQL and waits until it is done; returns what the shell printed, errors included.
    @discardableResult
    package func run(_ sql: String) throws -> String {
        count += 1
        let mark = "done-\(count)\n"
        try process.write("\(sql)\n;\n.print done-\(count)\n")
        // Decoded as a whole: a piece may end within a character.
        var bytes: [UInt8] = []
        while !bytes.suffix(mark.utf8.count).elementsEqual(mark.utf8) {
            let some = process.readSome()
            if some.isEmpty { break }
            bytes += some
        }
        return String(decoding: bytes.dropLast(mark.utf8.count), as: UTF8.self)
    }

    /// Dies without a chance to tidy up.
    package func kill() { process.kill() }

    /// Leaves in an orderly way.
    package func end() {
        process.endInput()
        process.wait()
    }
}

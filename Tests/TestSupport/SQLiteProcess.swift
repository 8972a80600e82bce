import Foundation

/// A sqlite3 shell that stays: another process with a database open, told what to do line by line.
package final class SQLiteProcess {
    private let process: ChildProcess
    private var count = 0

    package init(_ path: String) throws {
        process = try ChildProcess("sqlite3", ["-batch", path], output: .read, feeds: true)
    }

    deinit { end() }

    package var identifier: Int32 { process.identifier }

    /// Runs SQL and waits until it is done; returns what the shell printed, errors included.
    @discardableResult
    package func run(_ sql: String) throws -> String {
        count += 1
        let mark = "done-\(count)\n"
        try process.write("\(sql)\n;\n.print done-\(count)\n")
        var text = ""
        while !text.hasSuffix(mark) {
            let bytes = process.readSome()
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return String(text.dropLast(mark.count))
    }

    /// Dies without a chance to tidy up.
    package func kill() { process.kill() }

    /// Leaves in an orderly way.
    package func end() {
        process.endInput()
        process.wait()
    }
}

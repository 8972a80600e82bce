import Foundation

/// A sqlite3 shell that stays: another process with a database open, told what to do line by line.
package final class SQLiteProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var count = 0

    package init(_ path: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = ["-batch", path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit { end() }

    package var identifier: Int32 { process.processIdentifier }

    /// Runs SQL and waits until it is done; returns what the shell printed, errors included.
    @discardableResult
    package func run(_ sql: String) throws -> String {
        count += 1
        let mark = "done-\(count)\n"
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql)\n;\n.print done-\(count)\n".utf8))
        var text = ""
        while !text.hasSuffix(mark) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return String(text.dropLast(mark.count))
    }

    /// Dies without a chance to tidy up.
    package func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Leaves in an orderly way.
    package func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

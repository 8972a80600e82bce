import Foundation

/// A program of the system, such as `moult` or `sqlite3`.
public struct Program: Sendable {
    /// The path of its file.
    public let path: String

    public init(_ path: String) { self.path = path }

    /// What it prints.
    ///
    /// - Throws: ``ParityError`` with its messages if it ends with another exit code than those allowed.
    public func callAsFunction(_ arguments: [String], allowing codes: Set<Int32> = [0]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // Files, because a pipe that is full would stop the program.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["out", "err"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let handles = try files.map { try FileHandle(forWritingTo: $0) }
        process.standardOutput = handles[0]
        process.standardError = handles[1]
        try process.run()
        process.waitUntilExit()
        for handle in handles { try handle.close() }
        let printed = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        guard codes.contains(process.terminationStatus) else {
            throw ParityError(
                "\(path) \(arguments.joined(separator: " ")): exit \(process.terminationStatus)\n\(printed[1])")
        }
        return printed[0]
    }
}

/// Why a comparison could not be made.
public struct ParityError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

import Foundation

/// The corpus: stores and models that Apple's tools made.
///
/// `MOULT_CORPUS` names its folder; by default it is `../shared/corpus`, seen from the package's root. Where neither is
/// there, it is `Tests/Corpus`, the part whose licences allow to copy it.
package enum Corpus {
    private static let small = packageRoot.appendingPathComponent("Tests/Corpus").standardizedFileURL

    package static let root: URL? = {
        let path = ProcessInfo.processInfo.environment["MOULT_CORPUS"] ?? "../shared/corpus"
        let whole = URL(fileURLWithPath: path, relativeTo: packageRoot).standardizedFileURL
        let found = [whole, small].first { FileManager.default.fileExists(atPath: $0.path) }
        if found?.path != whole.path || found?.path == small.path {
            print("SKIPPED: the tests that need more than Tests/Corpus; MOULT_CORPUS names a folder with all of it")
        }
        return found
    }()

    package static var isAvailable: Bool { root != nil }
    /// Whether it is the part that lies in the package.
    package static var isSmall: Bool { root?.path == small.path }
    /// Whether the tests run that count what is in it, or look at what only the whole corpus has.
    package static var isWhole: Bool { isAvailable && !isSmall }

    /// Whether the suites that read all of it run: seconds of work each, with the matrix tier.
    package static var isAskedWhole: Bool { isWhole && Tier.matrix.isAsked }

    /// Whether there is a file or folder whose path ends so; a line says so where there is none.
    package static func has(_ end: String) -> Bool {
        let isThere = all.contains { $0.hasSuffix(end) }
        if !isThere { print("SKIPPED: the corpus at hand has no \(end)") }
        return isThere
    }

    /// Every n-th element of a list in the quick tests, and more of a small corpus; all in the matrix tier.
    package static func sample<Element>(_ all: [Element], every step: Int) -> [Element] {
        let step = Tier.matrix.isAsked ? 1 : isSmall ? max(1, step / 3) : step
        return stride(from: 0, to: all.count, by: step).map { all[$0] }
    }

    private static let all: [String] = {
        guard let root, let walk = FileManager.default.enumerator(atPath: root.path) else { return [] }
        return walk.compactMap { $0 as? String }.sorted()
    }()

    /// Every file or folder below the root whose path satisfies `isIncluded`, in path order.
    package static func paths(where isIncluded: (String) -> Bool) -> [String] {
        all.filter(isIncluded).map { "\(root?.path ?? "")/\($0)" }
    }

    /// Every SQLite store, by its first sixteen bytes.
    package static let stores: [String] =
        paths { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.filter { path in
            guard let file = FileHandle(forReadingAtPath: path) else { return false }
            defer { try? file.close() }
            return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
        }
}

/// A folder that is gone when the last reference to it is.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("moult-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Copies a store with its `-wal` (never its `-shm`) and its external data into the folder; returns the copy's path.
    package func copyStore(_ store: String) throws -> String {
        let name = URL(fileURLWithPath: store).lastPathComponent
        let copy = path + "/" + name
        try copyWritable(store, to: copy)
        if FileManager.default.fileExists(atPath: store + "-wal") {
            try copyWritable(store + "-wal", to: copy + "-wal")
        }
        let support = "." + URL(fileURLWithPath: name).deletingPathExtension().lastPathComponent + "_SUPPORT"
        let source = URL(fileURLWithPath: store).deletingLastPathComponent().appendingPathComponent(support).path
        if FileManager.default.fileExists(atPath: source) { try copyWritable(source, to: path + "/" + support) }
        return copy
    }

    private func copyWritable(_ source: String, to destination: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: destination)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: destination)
    }
}

/// The sqlite3 shell: an independent witness.
package enum SQLiteShell {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What `sqlite3 path sql` prints. Opens an immutable file read-only when asked, so that nothing beside it changes.
    package static func run(_ path: String, _ sql: String, immutable: Bool = false, arguments: [String] = []) throws
        -> String
    {
        let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        let ended = try ChildProcess.run(
            "sqlite3", arguments + [immutable ? "file:\(escaped)?immutable=1" : path, sql])
        guard ended.exit == 0 else { throw Failure(description: ended.output) }
        return ended.output
    }
}

import MoultBasics
import MoultSQLite

/// A search for files that may be stores: every regular file below the given folders, and the files that are named.
///
/// Links to folders are not followed, so that no file is found twice. Files that Moult keeps next to a store are
/// skipped, because its backups are stores too.
struct StoreFinder {
    /// A file, and its name on the device if it is in a device's backup.
    struct Candidate: Sendable {
        var path: String
        var name: String?
    }

    private let system = POSIXSystem()
    /// Takes each candidate.
    private let take: (Candidate) throws -> Void
    /// Takes the error for a path that could not be listed.
    private let miss: (MigrationError) -> Void

    init(take: @escaping (Candidate) throws -> Void, miss: @escaping (MigrationError) -> Void) {
        (self.take, self.miss) = (take, miss)
    }

    /// - Parameter roots: folders, files and shell patterns.
    /// - Throws: `fileNotFound` for a root that matches nothing.
    func find(_ roots: [String]) throws {
        for root in roots {
            guard try system.status(of: root) == nil else {
                try find(at: root)
                continue
            }
            let paths = system.paths(matching: root)
            guard !paths.isEmpty else {
                throw MigrationError(
                    .fileNotFound, "Nothing is at \(root), and it is no pattern that matches anything.", place: root,
                    remedy: "Check the path. A pattern is written as in a shell: 'tenants/*/app.sqlite'.")
            }
            for path in paths { try find(at: path) }
        }
    }

    /// Finds the files in a list of paths, one on each line. Relative paths start at the current directory.
    func find(listed path: String) throws {
        try FleetManifest.forEachLine(of: path) { line in
            let text = String(decoding: line, as: UTF8.self)
            guard !text.isEmpty else { return }
            guard try system.status(of: text) != nil else { return miss(MigrationError.system("find", text, error: 2)) }
            try find(at: text)
        }
    }

    private func find(at path: String) throws {
        let resolved = try system.resolve(path)
        switch try system.status(of: resolved)?.kind {
        case .folder: try walk(resolved)
        case .file: try take(Candidate(path: resolved))
        default: break
        }
    }

    private func walk(_ folder: String) throws {
        let entries: [FolderEntry]
        do {
            entries = try system.entries(of: folder)
        } catch let error as MigrationError {
            return miss(error)
        }
        var names: [String: String] = [:]
        if entries.contains(where: { $0.name == DeviceBackup.fileName && $0.kind == .file }) {
            names = (try? DeviceBackup.names(in: folder)) ?? [:]
        }
        for entry in entries where !Self.isSideFile(entry.name) {
            let path = Path.join(folder, entry.name)
            switch entry.kind {
            case .file where entry.name != DeviceBackup.fileName || names.isEmpty: try take(Candidate(path: path))
            case .folder where !entry.name.hasSuffix(Path.sidecarEnding):
                // A device's backup stores its files in folders named after the first two digits of the file names.
                names.isEmpty ? try walk(path) : try walk(path, names)
            case .link:
                guard let target = try? system.resolve(path), try system.status(of: target)?.kind == .file else {
                    break
                }
                if !Self.isSideFile(Path.name(of: target)) { try take(Candidate(path: target)) }
            default: break
            }
        }
    }

    private func walk(_ folder: String, _ names: [String: String]) throws {
        let entries: [FolderEntry]
        do {
            entries = try system.entries(of: folder)
        } catch let error as MigrationError {
            return miss(error)
        }
        for entry in entries where entry.kind == .file {
            try take(Candidate(path: Path.join(folder, entry.name), name: names[entry.name]))
        }
    }

    private static func isSideFile(_ name: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    }
}

/// A backup of a device, made by iTunes or the Finder. Its `Manifest.db` maps the files to their names on the device.
enum DeviceBackup {
    static let fileName = "Manifest.db"

    /// Returns the domain and path of each file that may be a store, by its name in the backup.
    ///
    /// - Throws: any error from opening the database, for example because it is encrypted.
    static func names(in folder: String) throws -> [String: String] {
        let connection = try Connection(Path.join(folder, fileName), mode: .immutable)
        defer { connection.close() }
        // Flags: 1 is a file, 2 a folder, 4 a link.
        let rows = try connection.rows(
            """
            SELECT fileID, domain || '/' || relativePath FROM Files
            WHERE flags = 1 AND relativePath NOT LIKE '%-wal' AND relativePath NOT LIKE '%-shm'
            """
        ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
        return Dictionary(rows) { first, _ in first }
    }
}

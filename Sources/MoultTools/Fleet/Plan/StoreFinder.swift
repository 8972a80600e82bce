import MoultBasics
import MoultSQLite

/// Finds the files that may be stores: every plain file below folders, and those that are named.
///
/// Links to folders are not followed, so that no file is reached on two ways through them. What Moult keeps next to a
/// store is left out, for its backups are stores too.
struct StoreFinder {
    /// A file, and its name on the device if it lies in a device's backup.
    struct Candidate: Sendable {
        var path: String
        var name: String?
    }

    private let system = POSIXSystem()
    /// Takes the candidates of a folder, one after the other.
    private let take: (Candidate) throws -> Void
    /// Takes what could not be listed.
    private let miss: (MigrationError) -> Void

    init(take: @escaping (Candidate) throws -> Void, miss: @escaping (MigrationError) -> Void) {
        (self.take, self.miss) = (take, miss)
    }

    /// - Parameter roots: folders, files and patterns of a shell.
    /// - Throws: `fileNotFound` for a root that names nothing.
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

    /// The files of a list, one path on each line; relative ones start at the folder of this process.
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
                // The files of a backup are in folders of two digits, by the first two of their names.
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

/// A backup of a device that iTunes or the Finder has made: `Manifest.db` says which file has which name.
enum DeviceBackup {
    static let fileName = "Manifest.db"

    /// The domain and the path of each file that may be a store, by its name in the backup.
    ///
    /// - Throws: what opening a database throws; also where it is encrypted.
    static func names(in folder: String) throws -> [String: String] {
        let connection = try Connection(Path.join(folder, fileName), mode: .immutable)
        defer { connection.close() }
        // Flag 1 is a file, 2 a folder, 4 a link.
        let rows = try connection.rows(
            """
            SELECT fileID, domain || '/' || relativePath FROM Files
            WHERE flags = 1 AND relativePath NOT LIKE '%-wal' AND relativePath NOT LIKE '%-shm'
            """
        ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
        return Dictionary(rows) { first, _ in first }
    }
}

import MoultModel
import MoultSystem

/// The files and folders below a folder, twice: as programs see them, and as a power cut would leave them.
///
/// Nothing counts as durable that POSIX does not promise: contents by a synchronisation of the file, names by one of
/// their folder. Everything else may be there or not, in any combination.
final class DiskModel {
    let root: String
    private let top: DiskFolder
    private var changes = 0

    /// Takes over what lies there; it has been on the disk for long.
    init(_ root: String, _ system: some System) throws {
        self.root = root
        top = try Self.folder(root, system)
    }

    private static func folder(_ path: String, _ system: some System) throws -> DiskFolder {
        var entries: [String: DiskFolder.Entry] = [:]
        for name in try system.list(path) where !name.hasSuffix("-shm") {
            let inner = Path.join(path, name)
            entries[name] =
                try system.status(of: inner)?.kind == .folder
                ? .folder(folder(inner, system)) : .file(DiskFile(system.read(inner, limit: .max - 1), isDurable: true))
        }
        return DiskFolder(entries)
    }

    // MARK: - Looking

    func file(_ path: String) -> DiskFile? {
        if case .file(let file)? = entry(path) { file } else { nil }
    }

    func folder(_ path: String) -> DiskFolder? {
        if path == root { return top }
        if case .folder(let folder)? = entry(path) { return folder }
        return nil
    }

    private func entry(_ path: String) -> DiskFolder.Entry? {
        guard path.hasPrefix(root + "/") else { return nil }
        var folder = top
        let names = path.dropFirst(root.count + 1).split(separator: "/").map(String.init)
        for name in names.dropLast() {
            guard case .folder(let inner)? = folder.entries[name] else { return nil }
            folder = inner
        }
        return names.last.flatMap { folder.entries[$0] }
    }

    // MARK: - Changing

    /// The file, made where it is missing.
    @discardableResult
    func make(_ path: String) -> DiskFile {
        if let file = file(path) { return file }
        let file = DiskFile()
        set(path, .file(file))
        return file
    }

    func makeFolder(_ path: String) {
        if folder(path) == nil { set(path, .folder(DiskFolder())) }
    }

    func put(_ contents: [UInt8], at path: String) { set(path, .file(DiskFile(contents))) }

    func remove(_ path: String) { if entry(path) != nil { set(path, nil) } }

    func rename(_ path: String, to newPath: String) {
        guard let entry = entry(path) else { return }
        changes += 1
        folder(Path.folder(of: newPath))?.set(Path.name(of: newPath), entry, number: changes)
        folder(Path.folder(of: path))?.set(Path.name(of: path), nil, number: changes)
    }

    private func set(_ path: String, _ entry: DiskFolder.Entry?) {
        changes += 1
        folder(Path.folder(of: path))?.set(Path.name(of: path), entry, number: changes)
    }

    /// Of a file its contents, of a folder its names.
    func synchronise(_ path: String) {
        if let file = file(path) { return file.synchronise() }
        guard let done = folder(path)?.synchronise() else { return }
        forEachFolder(top) { $0.synchronise { done.contains($0.number) } }
    }

    /// The name alone, as SQLite does with the first sync of a journal that it has made.
    func synchroniseName(of path: String) {
        let name = Path.name(of: path)
        folder(Path.folder(of: path))?.synchronise { $0.name == name }
    }

    private func forEachFolder(_ folder: DiskFolder, _ body: (DiskFolder) -> Void) {
        body(folder)
        for inner in folder.subfolders { forEachFolder(inner, body) }
    }

    // MARK: - The power cut

    /// Writes what a crash leaves to the real folder: everything if `survivors` is nil, otherwise what survives.
    func write(_ survivors: SurvivingWrites?, on system: some System) throws {
        for name in try system.list(root) { try system.removeTree(Path.join(root, name)) }
        var survivors = survivors
        var kept: [Int: Bool] = [:]
        try write(top, to: root, system) { number in
            if let known = kept[number] { return known }
            let keeps = survivors?.keeps() ?? true
            kept[number] = keeps
            return keeps
        } contents: { file in
            survivors?.surviving(file) ?? file.contents
        }
    }

    private func write(
        _ folder: DiskFolder, to path: String, _ system: some System, keeps: (Int) -> Bool,
        contents: (DiskFile) -> [UInt8]
    ) throws {
        // In order, so that a seed means the same everywhere.
        for (name, entry) in folder.surviving(keeps).sorted(by: { $0.key.precedesInByteOrder($1.key) }) {
            let inner = Path.join(path, name)
            switch entry {
            case .file(let file): try system.write(contents(file), to: inner)
            case .folder(let folder):
                try system.makeFolder(inner)
                try write(folder, to: inner, system, keeps: keeps, contents: contents)
            }
        }
    }
}

extension SurvivingWrites {
    fileprivate mutating func surviving(_ file: DiskFile) -> [UInt8] { file.surviving(&self) }
}

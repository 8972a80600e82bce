import MoultBasics
import MoultObjects

/// The files and folders below a folder, in two states: as programs see them, and as a power cut would leave them.
///
/// Only the guarantees of POSIX make anything durable: syncing a file for its contents, syncing its folder for its
/// name. Everything else may survive or not, in any combination. Permissions go with the file, as it last had them.
final class DiskModel {
    let root: String
    private let top: DiskFolder
    private let system: any System
    private var changes = 0

    /// Takes over the existing files, which count as durable.
    init(_ root: String, _ system: some System) throws {
        (self.root, self.system) = (root, system)
        top = try Self.folder(root, system)
    }

    private static func folder(_ path: String, _ system: some System) throws -> DiskFolder {
        var entries: [String: DiskFolder.Entry] = [:]
        for name in try system.list(path) where !name.hasSuffix("-shm") {
            let inner = Path.join(path, name)
            let status = try system.status(of: inner)
            if status?.kind == .folder {
                entries[name] = .folder(try folder(inner, system))
            } else {
                let file = DiskFile(try system.read(inner, limit: .max - 1), isDurable: true)
                file.mode = status?.mode
                entries[name] = .file(file)
            }
        }
        let made = DiskFolder(entries)
        made.mode = try system.status(of: path)?.mode
        return made
    }

    // MARK: - Reading

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

    /// Returns the file, and creates it if it is missing.
    @discardableResult
    func make(_ path: String) -> DiskFile {
        if let file = file(path) { return file }
        let file = DiskFile()
        set(path, .file(file))
        setMode(of: path)
        return file
    }

    func makeFolder(_ path: String) {
        guard folder(path) == nil else { return }
        set(path, .folder(DiskFolder()))
        setMode(of: path)
    }

    func put(_ contents: [UInt8], at path: String) {
        set(path, .file(DiskFile(contents)))
        setMode(of: path)
    }

    /// Takes over the permissions that a file or folder has now; none if a write of it was torn that would have made it.
    func setMode(of path: String) {
        guard let mode = try? system.status(of: path)?.mode else { return }
        switch entry(path) {
        case .file(let file): file.mode = mode
        case .folder(let folder): folder.mode = mode
        case nil: break
        }
    }

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

    /// Makes the contents of a file durable, or the names in a folder.
    func synchronise(_ path: String) {
        if let file = file(path) { return file.synchronise() }
        guard let done = folder(path)?.synchronise() else { return }
        forEachFolder(top) { $0.synchronise { done.contains($0.number) } }
    }

    /// Makes only the name durable, as SQLite does with the first sync of a journal that it has created.
    func synchroniseName(of path: String) {
        let name = Path.name(of: path)
        folder(Path.folder(of: path))?.synchronise { $0.name == name }
    }

    private func forEachFolder(_ folder: DiskFolder, _ body: (DiskFolder) -> Void) {
        body(folder)
        for inner in folder.subfolders { forEachFolder(inner, body) }
    }

    // MARK: - The power cut

    /// Writes the result of a crash to the real folder: everything if `survivors` is nil, otherwise only the surviving
    /// changes.
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
        // Sorted, so that a seed means the same everywhere.
        for (name, entry) in folder.surviving(keeps).inByteOrder(of: { $0.key }) {
            let inner = Path.join(path, name)
            switch entry {
            case .file(let file):
                try system.write(contents(file), to: inner)
                if let mode = file.mode { try system.setMode(mode, of: inner) }
            case .folder(let folder):
                try system.makeFolder(inner)
                try write(folder, to: inner, system, keeps: keeps, contents: contents)
                if let mode = folder.mode { try system.setMode(mode, of: inner) }
            }
        }
    }
}

extension SurvivingWrites {
    fileprivate mutating func surviving(_ file: DiskFile) -> [UInt8] { file.surviving(&self) }
}

/// One folder of a ``DiskModel``: the names that programs see, and the names that are durable.
final class DiskFolder {
    enum Entry {
        case file(DiskFile)
        case folder(DiskFolder)
    }

    /// A name that was added or removed. The two halves of a rename share one number.
    struct Change {
        let number: Int
        let name: String
        let entry: Entry?
    }

    /// Its permissions; nil if they are unknown, and only this user has any.
    fileprivate(set) var mode: UInt32?
    private(set) var entries: [String: Entry]
    private var durable: [String: Entry]
    private var pending: [Change] = []

    init(_ entries: [String: Entry] = [:]) {
        self.entries = entries
        durable = entries
    }

    func set(_ name: String, _ entry: Entry?, number: Int) {
        entries[name] = entry
        pending.append(Change(number: number, name: name, entry: entry))
    }

    /// Makes every change to the folder durable, or only those that `isIncluded` accepts.
    ///
    /// - Returns: the numbers of these changes; the other halves of renames are durable too.
    @discardableResult
    func synchronise(where isIncluded: (Change) -> Bool = { _ in true }) -> Set<Int> {
        let done = pending.filter(isIncluded)
        for change in done { durable[change.name] = change.entry }
        // An earlier change of the same name cannot come after a durable one.
        let last = Dictionary(done.map { ($0.name, $0.number) }, uniquingKeysWith: max)
        pending.removeAll { change in isIncluded(change) || last[change.name].map { change.number < $0 } ?? false }
        return Set(done.map(\.number))
    }

    /// Returns the entries after a power cut: the durable ones, with any part of the unsynced changes.
    func surviving(_ keeps: (_ change: Int) -> Bool) -> [String: Entry] {
        var names = durable
        for change in pending where keeps(change.number) { names[change.name] = change.entry }
        return names
    }

    var subfolders: [DiskFolder] {
        entries.values.compactMap { if case .folder(let folder) = $0 { folder } else { nil } }
    }
}

/// One file of a ``DiskModel``: its contents, and the part of them that is durable.
final class DiskFile {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    /// Its permissions; nil if they are unknown, and only this user has any.
    fileprivate(set) var mode: UInt32?
    private(set) var contents: [UInt8]
    private var durable: [UInt8]
    /// The changes since the last sync, in order.
    private var pending: [Change] = []

    /// - Parameter isDurable: whether the contents are already durable.
    init(_ contents: [UInt8] = [], isDurable: Bool = false) {
        self.contents = contents
        durable = isDurable ? contents : []
        if !isDurable, !contents.isEmpty { pending = [.write(offset: 0, bytes: contents)] }
    }

    func apply(_ change: Change) {
        contents.apply(change)
        pending.append(change)
    }

    func synchronise() {
        durable = contents
        pending = []
    }

    /// Returns the contents after a power cut: the durable ones, with any part of the unsynced changes, by sectors.
    func surviving(_ survivors: inout SurvivingWrites) -> [UInt8] {
        var bytes = durable
        for change in pending {
            switch change {
            case .truncate:
                if survivors.keeps() { bytes.apply(change) }
            case .write(let offset, let new):
                for piece in survivors.pieces(of: new, at: offset) { bytes.apply(piece) }
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func apply(_ change: DiskFile.Change) {
        switch change {
        case .write(let offset, let new):
            grow(to: offset + new.count)
            replaceSubrange(offset..<(offset + new.count), with: new)
        case .truncate(let size):
            if size < count { removeLast(count - size) } else { grow(to: size) }
        }
    }

    /// Appends an array of zeros, which is copied in one piece; a lazy sequence would be iterated.
    private mutating func grow(to size: Int) {
        if count < size { append(contentsOf: [UInt8](repeating: 0, count: size - count)) }
    }
}

/// Decides by a seed which unsynced changes survive a power cut.
///
/// With seed 0 nothing survives. The following seeds keep few, half and most of the changes, in rotation.
struct SurvivingWrites {
    static let sectorSize = 512

    private var generator: SeededGenerator
    /// The number of surviving changes out of eight.
    private let survivingEighths: UInt64

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        survivingEighths = seed == 0 ? 0 : [1, 4, 7][Int(seed % 3)]
    }

    mutating func keeps() -> Bool { generator.next() % 8 < survivingEighths }

    /// Returns a write as it reached the disk: complete, not at all, or some of its sectors.
    mutating func pieces(of bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        guard survivingEighths > 0, generator.next() % 4 == 0 else {
            return keeps() ? [.write(offset: offset, bytes: bytes)] : []
        }
        return sectors(of: bytes, at: offset).filter { _ in keeps() }
    }

    /// Returns an interrupted write: at least one sector is missing if it has more than one.
    mutating func torn(_ bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        let all = sectors(of: bytes, at: offset)
        guard !all.isEmpty else { return [] }
        let missing = Int(generator.next() % UInt64(all.count))
        return all.enumerated().filter { $0.offset != missing && generator.next() % 2 == 0 }.map(\.element)
    }

    private func sectors(of bytes: [UInt8], at offset: Int) -> [DiskFile.Change] {
        stride(from: 0, to: bytes.count, by: Self.sectorSize).map { start in
            .write(offset: offset + start, bytes: Array(bytes[start..<min(start + Self.sectorSize, bytes.count)]))
        }
    }
}

import MoultModel
import MoultSQLite
import MoultSystem

// MARK: - Files of a transaction that has not ended

// A file is written before the row that names it is committed. Until the transaction has ended, a list next to the store
// names its files, so that the next writer can remove those of a process that has died. One list is enough: SQLite lets one
// transaction write at a time.
extension ExternalStorage {
    /// Notes a file before it is written. The caller has the store's write lock.
    package func noteUnsaved(_ name: String, on system: any System) throws {
        guard let unsavedList else { return }
        try system.append(Array("\(name)\n".utf8), to: unsavedList, rights)
    }

    /// Forgets the list: the transaction has ended, and its files are the store's or gone.
    package func forgetUnsaved(on system: any System) throws {
        if let unsavedList { try system.remove(unsavedList) }
    }

    /// Removes what a transaction has written whose process died before it was committed.
    ///
    /// - Parameter connection: the store; the caller has its write lock, so that nobody's transaction is under way.
    package func removeUnsaved(in connection: Connection, on system: any System) throws {
        guard let unsavedList, try !system.isLink(unsavedList), try system.status(of: unsavedList)?.kind == .file else {
            return
        }
        let text = String(decoding: try system.read(unsavedList, limit: 64 << 20), as: UTF8.self)
        let names = text.split(separator: "\n").map(String.init).filter { name in
            // What a hostile list names must not lead out of the folder.
            if case .file(name)? = Cell(Cell.file(name).bytes) { true } else { false }
        }
        let named = names.isEmpty ? [] : try Self.names(in: connection)
        for name in names where !named.contains(name) { try system.remove(Path.join(folder, name)) }
        try system.remove(unsavedList)
    }
}

import MoultModel
import MoultStore
import MoultSystem

extension StoreMaker {
    /// Makes a store that gets its name when it is filled and synchronised: a process that dies before leaves nothing at
    /// the path.
    ///
    /// - Parameter fill: fills the store at the path that it gets.
    /// - Throws: `usage` if the path is taken, `locked` if another process makes the same store; what `fill` throws.
    ///   Then nothing was changed.
    @discardableResult
    package func makeWhole<Result>(
        at path: String, on system: any System = POSIXSystem(), fill: (String) throws -> Result
    ) throws -> Result {
        let unfinished = try UnfinishedStore(at: path, taking: [path], system)
        defer { unfinished.remove() }
        try make(at: unfinished.new, on: system)
        let result = try fill(unfinished.new)
        try moveExternalData(of: unfinished, system)
        try system.synchronise(unfinished.new)
        _ = try unfinished.install(taking: [path])
        return result
    }

    /// To where it is installed from; into a folder that a store of the same name has left, file by file.
    private func moveExternalData(of unfinished: UnfinishedStore, _ system: any System) throws {
        let (made, own) = (ExternalStorage(store: unfinished.new), ExternalStorage(store: unfinished.path))
        guard try system.exists(made.folder) else { return }
        let names = try system.list(made.folder)
        for name in names { try system.synchronise(Path.join(made.folder, name)) }
        guard try system.exists(own.supportFolder) else {
            for folder in [made.folder, made.supportFolder] { try system.synchronise(folder) }
            return try system.rename(made.supportFolder, to: unfinished.support)
        }
        try system.makeFolder(own.folder, made.rights)
        for name in names {
            try system.rename(Path.join(made.folder, name), toUnused: Path.join(own.folder, name))
        }
        try system.synchronise(own.folder)
    }
}

/// One folder of a ``DiskModel``: the names that programs see, and those that have surely reached the disk.
final class DiskFolder {
    enum Entry {
        case file(DiskFile)
        case folder(DiskFolder)
    }

    /// A name that was given or taken; the two halves of a rename have one number.
    struct Change {
        let number: Int
        let name: String
        let entry: Entry?
    }

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

    /// Everything that was done to the folder is durable, or only what `isIncluded` says.
    ///
    /// - Returns: the numbers of those changes, whose other halves are durable too.
    @discardableResult
    func synchronise(where isIncluded: (Change) -> Bool = { _ in true }) -> Set<Int> {
        let done = pending.filter(isIncluded)
        for change in done { durable[change.name] = change.entry }
        pending.removeAll(where: isIncluded)
        return Set(done.map(\.number))
    }

    /// Returns the entries that a power cut leaves: of what was not synchronised, any part.
    func surviving(_ keeps: (_ change: Int) -> Bool) -> [String: Entry] {
        var names = durable
        for change in pending where keeps(change.number) { names[change.name] = change.entry }
        return names
    }

    var subfolders: [DiskFolder] {
        entries.values.compactMap { if case .folder(let folder) = $0 { folder } else { nil } }
    }
}

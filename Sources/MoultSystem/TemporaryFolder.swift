import MoultModel

/// A folder for copies that are not needed after the process, for this user alone.
///
/// The process that uses it holds a lock in it, so that another one can tell a folder that a dead process has left, and
/// removes it.
package final class TemporaryFolder: Sendable {
    package let path: String
    private let system: any System
    private let lock: FileLock

    private static let prefix = "moult-"
    private static let lockName = ".moult-lock"

    /// - Parameters:
    ///   - kind: a word for its name.
    ///   - parent: nil for the machine's own folder of that sort.
    package init(_ kind: String, in parent: String? = nil, _ system: any System) throws {
        let parent = parent ?? system.temporaryFolder
        let path = Path.join(parent, "\(Self.prefix)\(kind)-\(system.uniqueName())")
        try system.makeFolder(path)
        do {
            guard let lock = try system.lock(Path.join(path, Self.lockName)) else {
                throw MigrationError(
                    .locked, "Another process uses the folder of this run.", place: path,
                    remedy: "Run the command again.")
            }
            (self.path, self.system, self.lock) = (path, system, lock)
        } catch {
            _ = try? system.removeTree(path)
            throw error
        }
        Self.removeLeft(in: parent, besides: path, system)
    }

    /// Removes it with all that it holds.
    package func remove() { _ = try? Self.remove(path, system) }

    /// Removes a folder, its lock last: as long as there is data, the lock says whose it is.
    private static func remove(_ path: String, _ system: any System) throws {
        for name in try system.list(path) where name != lockName { try system.removeTree(Path.join(path, name)) }
        try system.removeTree(path)
    }

    /// Whether a folder without a lock was made here: `moult-KIND-` and the digits of a unique name. Its process died before
    /// it had locked the folder, or, with an earlier version of Moult, while it removed it.
    private static func isOwnName(_ name: String) -> Bool {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.count == 3 && words[2].count == 16 && words[2].allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    /// Removes the folders of this user's processes that have died. What cannot be removed is left to the next run.
    private static func removeLeft(in parent: String, besides own: String, _ system: any System) {
        for name in (try? system.list(parent)) ?? [] where name.hasPrefix(prefix) {
            let path = Path.join(parent, name)
            let lock = Path.join(path, lockName)
            guard path != own, (try? system.isLink(path)) == false, let status = try? system.status(of: path),
                status.kind == .folder, status.owner == system.user,
                // A process that has just made its folder has not locked it yet.
                system.now.seconds(since: status.changed) > 60,
                (try? system.exists(lock)) == true || isOwnName(name), let held = try? system.lock(lock)
            else { continue }
            _ = try? remove(path, system)
            withExtendedLifetime(held) {}
        }
    }
}

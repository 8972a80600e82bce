/// Functions on the text of a path; they do not access the file system.
package enum Path {
    /// Returns the last part: `b.sqlite` for `/a/b.sqlite`.
    package static func name(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        guard trimmed != "/", let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return trimmed }
        return String(trimmed[trimmed.utf8.index(after: slash)...])
    }

    /// Returns all but the last part: `/a` for `/a/b.sqlite`, `.` for `b.sqlite`.
    package static func folder(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == trimmed.startIndex ? "/" : withoutTrailingSlashes(String(trimmed[..<slash]))
    }

    /// Returns the name without its extension: `b` for `/a/b.sqlite`, `.b` for `.b`.
    package static func stem(of path: String) -> String {
        let name = name(of: path)
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    package static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The suffix of the folder next to a store that holds Moult's own files.
    package static let sidecarEnding = ".moult"

    /// The longest store name, in bytes, used unshortened in the folder's name. File systems allow 255 bytes.
    private static let longestName = 249

    /// Returns the path of the folder next to a store that holds Moult's own files: `<name>.moult`. A name too long for
    /// the added ending is shortened and made unique by its digest: SQLite limits paths to 512 bytes.
    package static func sidecar(of store: String) -> String {
        let name = name(of: store)
        guard name.utf8.count > longestName else { return store + sidecarEnding }
        let digest = Array(Digest.sha256(name.utf8).prefix(8)).hexadecimal
        let start = name.unicodeScalars.reduce(into: "") { text, scalar in
            if text.utf8.count < 60 { text.unicodeScalars.append(scalar) }
        }
        return join(folder(of: store), "\(start)-\(digest)\(sidecarEnding)")
    }

    /// Splits a path inside such a folder into the folder and the names below it; nil for any other path.
    static func belowSidecar(_ path: String) -> (folder: String, names: [String])? {
        guard let range = path.firstRange(of: sidecarEnding + "/") else { return nil }
        let names = path[range.upperBound...].split(separator: "/").map(String.init)
        return names.isEmpty ? nil : (String(path[..<range.upperBound].dropLast()), names)
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.utf8.count > 1, text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
        return String(text)
    }
}

/// A folder for files that only this process needs, private to this user.
///
/// The process holds a lock in the folder, so that other processes can recognise and remove a folder whose owner has
/// died.
package final class TemporaryFolder: Sendable {
    package let path: String
    private let system: any System
    private let lock: FileLock

    private static let prefix = "moult-"
    private static let lockName = ".moult-lock"

    /// - Parameters:
    ///   - kind: a word for the folder's name.
    ///   - parent: the parent folder; nil for the system's temporary folder.
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

    /// Removes the folder with all its contents.
    package func remove() { _ = try? Self.remove(path, system) }

    /// Removes a folder. The lock file goes last: while there is data, it marks the owner.
    private static func remove(_ path: String, _ system: any System) throws {
        for name in try system.list(path) where name != lockName { try system.removeTree(Path.join(path, name)) }
        try system.removeTree(path)
    }

    /// Whether a folder without a lock file was made here: `moult-KIND-` and the digits of a unique name. Its process
    /// died before it locked the folder, or, in an earlier version of Moult, while it removed the folder.
    private static func isOwnName(_ name: String) -> Bool {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.count == 3 && words[2].count == 16 && words[2].allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    /// Removes the folders of this user's dead processes. A folder that cannot be removed stays for the next run.
    private static func removeLeft(in parent: String, besides own: String, _ system: any System) {
        for name in (try? system.list(parent)) ?? [] where name.hasPrefix(prefix) {
            let path = Path.join(parent, name)
            let lock = Path.join(path, lockName)
            guard path != own, (try? system.isLink(path)) == false, let status = try? system.status(of: path),
                status.kind == .folder, status.owner == system.user,
                // A process that has just made its folder may not have locked it yet.
                system.now.seconds(since: status.changed) > 60,
                (try? system.exists(lock)) == true || isOwnName(name), let held = try? system.lock(lock)
            else { continue }
            _ = try? remove(path, system)
            withExtendedLifetime(held) {}
        }
    }
}

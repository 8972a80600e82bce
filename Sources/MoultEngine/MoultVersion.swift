import MoultBasics

/// The version of Moult, as written in manifests and bundles and by the command line.
package enum MoultVersion {
    package static let number = "0.2.0"
    /// The commit of a build from `git archive`, which inserts it here (.gitattributes); nil for any other build.
    package static var commit: String? { archived.hasPrefix("$") ? nil : String(archived.prefix(12)) }

    private static let archived = "$Format:%H$"

    /// Returns the commit that was checked out when a program was linked in the build folder of a clone of Moult.
    ///
    /// The clone's log of `HEAD` says which commit that was, even if another one is checked out now.
    ///
    /// - Returns: nil for a program outside a clone, or if the log does not go back that far.
    package static func commit(ofProgram path: String, _ system: any System = POSIXSystem()) -> String? {
        guard let linked = (try? system.status(of: path))??.modified else { return nil }
        var folder = Path.folder(of: path)
        while (try? system.exists(Path.join(folder, ".git"))) != true {
            let parent = Path.folder(of: folder)
            guard parent != folder else { return nil }
            folder = parent
        }
        // The tool of an app is in the app's own repository.
        guard (try? system.exists(Path.join(folder, "Sources/MoultEngine/MoultVersion.swift"))) == true,
            let log = try? system.read(Path.join(gitFolder(of: folder, system), "logs/HEAD"), limit: 64 << 20)
        else { return nil }
        let commits = log.split(separator: UInt8(ascii: "\n")).compactMap { line -> String? in
            // OLD NEW NAME <ADDRESS> SECONDS ZONE, a tab and the reason.
            let words = String(decoding: line.prefix { $0 != UInt8(ascii: "\t") }, as: UTF8.self).split(separator: " ")
            guard words.count > 4, let time = Int64(words[words.count - 2]), time <= linked.seconds else { return nil }
            return String(words[1].prefix(12))
        }
        return commits.last
    }

    /// Returns the folder with git's files, to which the file `.git` of a worktree leads.
    private static func gitFolder(of folder: String, _ system: any System) -> String {
        let path = Path.join(folder, ".git")
        guard let bytes = try? system.read(path, limit: 4096) else { return path }
        let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? ""
        guard text.hasPrefix("gitdir: ") else { return path }
        let target = String(text.dropFirst("gitdir: ".count))
        return target.hasPrefix("/") ? target : Path.join(folder, target)
    }
}

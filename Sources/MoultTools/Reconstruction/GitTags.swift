import MoultBasics
import MoultModelFiles

/// The tags of a repository, with the files in each that may be part of a model.
///
/// Nothing is checked out. Each tree and each file is read once, in however many tags it is: `git` runs a few times for
/// each level of folders, not for each tag.
struct GitTags: Sendable {
    /// A tag that leads to a commit.
    struct Tag: Sendable {
        let name: String
        fileprivate let tree: String
    }

    /// A file in a tag, by its path from the root of the repository.
    struct File: Sendable, Hashable {
        let path: String
        let object: String
    }

    /// The tags, oldest first.
    let tags: [Tag]
    /// The findings about tags that lead to no commit, and about a shallow clone.
    private(set) var findings: [Finding] = []
    let git: Git

    /// Lists the tags of the repository around a path.
    ///
    /// - Parameter patterns: shell patterns, as for `git tag --list`; empty for all tags.
    /// - Throws: `usage` if git, the repository or a tag that matches is missing.
    init(around path: String, matching patterns: [String]) throws {
        git = try Git(around: path)
        let isShallow = try git.isShallow
        // A tag of a tag has its date at the third place only.
        let fields = "%(refname:strip=2)%09%(committerdate:unix)%(*committerdate:unix)%09%(creatordate:unix)"
        let listed = try git.lines(["tag", "--list", "--format=\(fields)", "--"] + patterns)
        guard listed.exit == 0 else { throw Git.error(listed, "git cannot list the tags.", git.root) }
        let named = listed.output.split(separator: UInt8(ascii: "\n")).map { line -> (name: String, date: Int) in
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
            return (String(parts[0]), parts.dropFirst().lazy.compactMap { Int($0) }.first ?? 0)
        }
        guard !named.isEmpty else { throw Self.noTags(patterns, git, isShallow: isShallow) }
        let sorted = named.sorted { $0.date == $1.date ? $0.name.precedesNaturally($1.name) : $0.date < $1.date }
        let trees = try git.facts(of: sorted.map { "refs/tags/\($0.name)^{tree}" })
        tags = zip(sorted, trees).compactMap { tag, tree in tree.map { Tag(name: tag.name, tree: $0.object) } }
        for (tag, tree) in zip(sorted, trees) where tree == nil { findings.append(.withoutCommit(tag.name)) }
        if isShallow { findings.append(.shallow(git.root)) }
    }

    private static func noTags(_ patterns: [String], _ git: Git, isShallow: Bool) -> MigrationError {
        let which = patterns.isEmpty ? "" : " that matches \(patterns.joined(separator: " or "))"
        return MigrationError(
            .usage, "The repository has no tag\(which)." + (isShallow ? " The clone is shallow." : ""),
            place: git.root,
            remedy: isShallow
                ? GitRevision.wholeHistory
                : "Fetch the tags with `git fetch --tags`, or give another pattern; `git tag` lists them.")
    }

    // MARK: - Files

    /// The folders and files of a tree that may lead to a model.
    fileprivate struct Tree {
        var folders: [(name: String, tree: String)] = []
        var files: [(name: String, object: String)] = []
    }

    /// Folders deeper than this are not searched for models.
    private static let deepest = 64

    /// Returns for each tag the files that may be part of a model, in byte order of their paths.
    ///
    /// - Parameter takesJSON: returns whether a JSON file of that name, in a folder of that name, may be a model.
    /// - Throws: `fileNotReadable` if a tree is missing.
    func files(takingJSON takesJSON: (_ name: String, _ folder: String) -> Bool) throws -> [[File]] {
        let trees = try self.trees()
        var known: [String: [String: [File]]] = [:]
        func files(of tree: String, in folder: String, depth: Int) -> [File] {
            if let found = known[tree]?[folder] { return found }
            guard let entries = trees[tree], depth < Self.deepest else { return [] }
            var found = entries.files.filter { !$0.name.hasSuffix(".json") || takesJSON($0.name, folder) }
                .map { File(path: $0.name, object: $0.object) }
            for (name, below) in entries.folders {
                found += files(of: below, in: name, depth: depth + 1).map {
                    File(path: "\(name)/\($0.path)", object: $0.object)
                }
            }
            found.sort { $0.path.precedesInByteOrder($1.path) }
            known[tree, default: [:]][folder] = found
            return found
        }
        return tags.map { files(of: $0.tree, in: "", depth: 0) }
    }

    /// Reads every tree of the tags, level by level.
    private func trees() throws -> [String: Tree] {
        var known: [String: Tree] = [:]
        var wanted = Set(tags.map(\.tree))
        for _ in 0..<Self.deepest where !wanted.isEmpty {
            let objects = wanted.sorted()
            wanted = []
            for start in stride(from: 0, to: objects.count, by: 2_000) {
                let some = Array(objects[start..<min(start + 2_000, objects.count)])
                for (object, contents) in zip(some, try git.contents(ofEach: some, limit: .max)) {
                    guard let contents else { throw git.missing(object) }
                    known[object] = Tree(contents, identifierLength: object.utf8.count / 2)
                }
                for object in some {
                    for folder in known[object]?.folders ?? [] where known[folder.tree] == nil {
                        wanted.insert(folder.tree)
                    }
                }
            }
        }
        return known
    }
}

extension GitTags.Tree {
    /// Folders that hold many files and never a model.
    private static let skipped = [".xcassets", ".lproj", ".xcodeproj", ".xcworkspace"]

    /// Reads the contents of a tree: for each entry its mode, a space, its name, a zero byte and its identifier.
    fileprivate init(_ bytes: [UInt8], identifierLength: Int) {
        var place = 0
        while let space = bytes[place...].firstIndex(of: UInt8(ascii: " ")),
            let zero = bytes[space...].firstIndex(of: 0), zero + identifierLength < bytes.count
        {
            let mode = bytes[place..<space]
            let name = String(decoding: bytes[(space + 1)..<zero], as: UTF8.self)
            let identifier = bytes[(zero + 1)...].prefix(identifierLength)
            place = zero + 1 + identifierLength
            // 40000 is a folder and 100… a file; a link is 120000, and a submodule 160000.
            if mode.first == UInt8(ascii: "4") {
                guard !Self.skipped.contains(where: name.hasSuffix) else { continue }
                folders.append((name, Array(identifier).hexadecimal))
            } else if mode.starts(with: Array("100".utf8)), ListedModel.mayHave(name) {
                files.append((name, Array(identifier).hexadecimal))
            }
        }
    }
}

extension Finding {
    fileprivate static func withoutCommit(_ tag: String) -> Finding {
        Finding(
            code: "tag-not-read", severity: .warning, place: tag,
            message: "The tag leads to no commit here, and is left out.",
            remedy: "Fetch it, or give a pattern that leaves it out.")
    }

    fileprivate static func shallow(_ root: String) -> Finding {
        Finding(
            code: "history-shallow", severity: .warning, place: root,
            message: "The clone is shallow, so that it may lack tags, and the shapes that only they have.",
            remedy: "Fetch the whole history: `git fetch --unshallow --tags`.")
    }
}

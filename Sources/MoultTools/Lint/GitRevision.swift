import MoultBasics
import MoultModel
import MoultModelFiles

/// The commit to compare a model with: the last common ancestor of a revision and HEAD.
package struct GitRevision: Sendable, CustomStringConvertible {
    /// The revision, as typed.
    package let name: String
    package let commit: String
    private let git: Git

    package var description: String { "\(name) (\(commit.prefix(8)))" }

    /// - Parameters:
    ///   - name: a revision, such as `origin/main`.
    ///   - path: the path of the model.
    /// - Throws: `usage` if git, the repository, the revision or a common ancestor with HEAD is missing.
    package init(_ name: String, around path: String) throws {
        let git = try Git(around: path, otherWay: Git.withoutRevision)
        self.git = git
        self.name = name
        let found = try git.lines(["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"])
        guard found.exit == 0, let tip = found.line else { throw try Self.unknown(name, git) }
        let ancestor = try git.lines(["merge-base", tip, "HEAD"])
        guard ancestor.exit == 0, let commit = ancestor.line else { throw try Self.noAncestor(name, git, ancestor) }
        self.commit = commit
    }

    /// Finds the commit of the revision itself.
    ///
    /// - Parameter path: the path of a file or folder in the repository.
    /// - Throws: `usage` if git, the repository or the revision is missing.
    package init(exactly name: String, around path: String) throws {
        let git = try Git(around: path, otherWay: Git.withoutRevision)
        let found = try git.lines(["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"])
        guard found.exit == 0, let commit = found.line else { throw try Self.unknown(name, git) }
        (self.git, self.name, self.commit) = (git, name, commit)
    }

    static let wholeHistory =
        "Fetch the whole history: `git fetch --unshallow`, or fetch-depth: 0 for actions/checkout."

    private static func unknown(_ name: String, _ git: Git) throws -> MigrationError {
        let isShallow = try git.isShallow
        return MigrationError(
            .usage, "The repository has no revision \(name)." + (isShallow ? " The clone is shallow." : ""),
            place: git.root,
            remedy: isShallow
                ? wholeHistory
                : "Name a branch, a tag or a commit that was fetched; `git branch --all` lists branches.")
    }

    private static func noAncestor(_ name: String, _ git: Git, _ run: ProgramRun) throws -> MigrationError {
        let isShallow = try git.isShallow
        return MigrationError(
            .usage, "\(name) and HEAD have no common ancestor here." + (isShallow ? " The clone is shallow." : ""),
            place: git.root,
            remedy: isShallow ? wholeHistory : "Commit first, or name a revision that HEAD descends from.",
            cause: run.errorText.isEmpty ? nil : run.errorText)
    }

    // MARK: - The model of the commit

    /// A file in the commit.
    fileprivate struct File {
        let object: String
        /// The path from the root of the repository.
        let path: String
    }

    /// Reads the model in the commit. A bundle that has moved since is found by its versions.
    ///
    /// - Throws: `modelNotFound` if the commit does not contain the model; any error from reading it.
    package func model(of bundle: ModelBundle) throws -> ModelBundle {
        let files = try files()
        let path = try pathInRepository(bundle.path)
        let folder = try TemporaryFolder("lint", POSIXSystem())
        defer { folder.remove() }
        if files.contains(where: { $0.isAt(path) }) { return try read(path, files, in: folder) }
        var best: (bundle: ModelBundle, likeness: Int)?
        for candidate in movedBundles(files) {
            guard let other = try? read(candidate, files, in: folder) else { continue }
            let likeness = bundle.likeness(to: other)
            if likeness > (best?.likeness ?? 0) { best = (other, likeness) }
        }
        guard let best else {
            throw noModel(
                path,
                remedy: "If the model is new, leave \(option: .since(nil)) out. Otherwise name a revision that has it.")
        }
        return best.bundle
    }

    /// Reads the lock file at a path in the commit, which may be missing from the working tree; nil if the commit has
    /// none that can be read.
    func lock(at path: String) throws -> ModelLock? {
        let folder = try pathInRepository(Path.folder(of: path))
        let place = folder.isEmpty ? Path.name(of: path) : Path.join(folder, Path.name(of: path))
        guard let file = try files().first(where: { $0.path == place }) else { return nil }
        return try git.contents(of: [file.object]).first.flatMap { try? ModelLock(json: $0, place: path) }
    }

    /// Reads the model at a path in the commit: relative to the current directory, otherwise to the root of the
    /// repository.
    ///
    /// - Throws: `modelNotFound` if the commit does not contain the model; any error from reading it.
    package func model(at path: String) throws -> ModelBundle {
        let files = try files()
        let folder = try pathInRepository(".")
        let places = [folder.isEmpty ? path : Path.join(folder, path), path].map(Self.withoutDots)
        guard let place = places.first(where: { place in files.contains { $0.isAt(place) } }) else {
            throw noModel(
                path, remedy: "Name a model of the commit; `git ls-tree -r --name-only \(name)` lists its files.")
        }
        let scratch = try TemporaryFolder("revision", POSIXSystem())
        defer { scratch.remove() }
        return try read(place, files, in: scratch)
    }

    /// Returns a path without a leading slash, with `.` and `..` resolved textually.
    static func withoutDots(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    private func noModel(_ path: String, remedy: Remedy) -> MigrationError {
        MigrationError(
            .modelNotFound, "The commit \(commit.prefix(8)) of \(name) has no model \(path).", place: git.root,
            remedy: remedy)
    }

    private func files() throws -> [File] {
        let listed = try git.lines(["ls-tree", "-r", "-z", "--full-tree", commit])
        guard listed.exit == 0 else { throw Git.error(listed, "git cannot list the files of \(name).", git.root) }
        return listed.output.split(separator: 0).compactMap { entry in
            // mode SP type SP object TAB path
            guard let tab = entry.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
            let facts = String(decoding: entry[..<tab], as: UTF8.self).split(separator: " ")
            guard facts.count == 3, facts[1] == "blob", facts[0] != "120000" else { return nil }
            return File(object: String(facts[2]), path: String(decoding: entry[(tab + 1)...], as: UTF8.self))
        }
    }

    private func pathInRepository(_ path: String) throws -> String {
        try git.place(of: POSIXSystem().resolve(path), named: path)
    }

    /// Returns the bundles in the commit that are no longer at their paths.
    private func movedBundles(_ files: [File]) -> [String] {
        let folders = files.compactMap { file -> String? in
            let parts = file.path.split(separator: "/")
            let place =
                parts.firstIndex { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }
                ?? parts.firstIndex { $0.hasSuffix(".xcdatamodel") }
            return place.map { parts[...$0].joined(separator: "/") }
        }
        return Set(folders).sorted().filter { (try? POSIXSystem().exists(git.root + "/" + $0)) != true }
    }

    /// Writes the files below a path into a folder, and reads the model there.
    private func read(_ path: String, _ files: [File], in folder: TemporaryFolder) throws -> ModelBundle {
        let system = POSIXSystem()
        // A folder of versions may contain other files too.
        let chosen = files.filter { $0.isAt(path) && ListedModel.mayHave(Path.name(of: $0.path)) }
        for (file, bytes) in zip(chosen, try git.contents(of: chosen.map(\.object))) {
            var made = folder.path
            for part in Path.folder(of: file.path).split(separator: "/") where part != "." {
                made = Path.join(made, String(part))
                if try !system.exists(made) { try system.makeFolder(made) }
            }
            try system.write(bytes, to: Path.join(folder.path, file.path))
        }
        do {
            let bundle = try ModelBundle(contentsOf: path.isEmpty ? folder.path : Path.join(folder.path, path))
            try checkWhole(bundle, path, files.filter { $0.isAt(path) })
            return bundle
        } catch var error as MigrationError {
            error.place = error.place.replacing(folder.path, with: "\(commit.prefix(8))")
            error.message = "The model of \(description) cannot be read: \(error.message)"
            throw error
        }
    }

    /// - Throws: `modelInvalid` if the commit contains only a part of the model. The missing part would count as never
    ///   released.
    private func checkWhole(_ bundle: ModelBundle, _ path: String, _ files: [File]) throws {
        let marker = bundle.findings.first { $0.code == "current-version-missing" }
        let folders = Set(files.compactMap(\.versionFolder))
        let empty = folders.filter { folder in
            !files.contains { $0.versionFolder == folder && ["contents", "elements"].contains(Path.name(of: $0.path)) }
        }.min()
        guard marker != nil || empty != nil else { return }
        throw MigrationError(
            .modelInvalid,
            "It is only partly in the commit: " + (empty.map { "\($0) has no contents." } ?? marker?.message ?? ""),
            place: marker?.place ?? empty ?? path,
            remedy: "Commit the whole bundle, also what .gitignore leaves out, or name a revision that has all of it.")
    }
}

extension GitRevision.File {
    /// The folder of the version that the file belongs to; nil for a file of the bundle itself.
    fileprivate var versionFolder: String? {
        let parts = path.split(separator: "/")
        return parts.firstIndex { $0.hasSuffix(".xcdatamodel") }.map { parts[...$0].joined(separator: "/") }
    }

    fileprivate func isAt(_ path: String) -> Bool {
        path.isEmpty || self.path == path || self.path.hasPrefix(path + "/")
    }
}

extension ModelBundle {
    /// Returns a score for how likely two bundles are the same model; 0 if nothing suggests it.
    fileprivate func likeness(to other: ModelBundle) -> Int {
        let checksums = Set(versions.map(\.hashes.checksum))
        let names = Set(versions.map(\.name))
        let entities = Set(versions.flatMap { $0.model.entities.map(\.name) })
        let others = Set(other.versions.flatMap { $0.model.entities.map(\.name) })
        return other.versions.count { checksums.contains($0.hashes.checksum) } * 1_000
            + other.versions.count { names.contains($0.name) } * 10
            // A single common entity may be a coincidence; a majority is not.
            + (entities.intersection(others).count * 2 > others.count ? 1 : 0)
    }
}

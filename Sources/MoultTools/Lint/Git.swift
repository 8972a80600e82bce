import MoultBasics

/// The git repository of a model, read with the `git` program.
struct Git {
    /// The root of the working tree, without symbolic links.
    let root: String

    /// Finds the repository that contains a path.
    ///
    /// - Parameter otherWay: what a person can do without git or a repository.
    /// - Throws: `usage` if there is no git or no repository.
    init(around path: String, otherWay: Remedy = "") throws {
        let folder = try Self.folder(of: path)
        let found = try Self.run(["-C", folder, "rev-parse", "--show-toplevel"], otherWay: otherWay)
        guard found.exit == 0, let root = found.line, !root.isEmpty else {
            throw Self.error(found, "\(path) is in no git repository.", folder, otherWay: otherWay)
        }
        self.root = root
    }

    private static func folder(of path: String) throws -> String {
        let kind = try POSIXSystem().status(of: path)?.kind
        return kind == .folder ? path : Path.folder(of: path)
    }

    /// Returns the path from the root of a file or folder in the repository; empty for the root.
    ///
    /// - Parameters:
    ///   - whole: its path without symbolic links.
    ///   - path: its path for the error message.
    /// - Throws: `usage` for a path outside of the repository.
    func place(of whole: String, named path: String) throws -> String {
        guard whole != root else { return "" }
        guard whole.hasPrefix(root + "/") else {
            throw MigrationError(
                .usage, "\(path) is not in the repository.", place: root,
                remedy: "Give the path of a model in the working tree.")
        }
        return String(whole.dropFirst(root.count + 1))
    }

    /// Runs `git` in the repository, and returns its output.
    func lines(_ arguments: [String], input: [UInt8] = []) throws -> ProgramRun {
        try Self.run(["-C", root] + arguments, input: input)
    }

    /// Returns the contents of objects, in order.
    ///
    /// - Throws: `fileNotReadable` if one of them is missing.
    func contents(of objects: [String]) throws -> [[UInt8]] {
        try zip(objects, contents(ofEach: objects, limit: .max)).map { object, contents in
            guard let contents else { throw missing(object) }
            return contents
        }
    }

    /// Returns the contents of objects, in order; nil for one that is missing or larger than the limit.
    func contents(ofEach objects: [String], limit: Int) throws -> [[UInt8]?] {
        let facts = try facts(of: objects)
        var contents: [[UInt8]?] = []
        var batch: [String] = []
        var size = 0
        func read() throws {
            contents += try readBatch(batch)
            (batch, size) = ([], 0)
        }
        for (object, fact) in zip(objects, facts) {
            guard let fact, fact.size <= limit else {
                try read()
                contents.append(nil)
                continue
            }
            // The output of a program is read into memory as a whole.
            if size + fact.size > 32 << 20 { try read() }
            batch.append(object)
            size += fact.size
        }
        try read()
        return contents
    }

    /// Returns the identifier and the size of the object that each name stands for, such as `HEAD^{tree}`; nil for a
    /// name that stands for none.
    func facts(of names: [String]) throws -> [(object: String, size: Int)?] {
        guard !names.isEmpty else { return [] }
        let input = names.map { $0 + "\n" }.joined()
        let read = try catFile(["--batch-check"], input)
        let found = read.split(separator: UInt8(ascii: "\n")).map { line -> (String, Int)? in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 3, let size = Int(words[2]) else { return nil }
            return (String(words[0]), size)
        }
        return names.indices.map { found.indices.contains($0) ? found[$0] : nil }
    }

    private func readBatch(_ objects: [String]) throws -> [[UInt8]?] {
        guard !objects.isEmpty else { return [] }
        let input = objects.map { $0 + "\n" }.joined()
        let output = try catFile(["--batch"], input)
        var place = 0
        return objects.map { _ in
            guard let end = output[place...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let header = String(decoding: output[place..<end], as: UTF8.self).split(separator: " ")
            place = end + 1
            guard header.count == 3, let size = Int(header[2]), size < output.count - place else { return nil }
            defer { place += size + 1 }
            return Array(output[place..<(place + size)])
        }
    }

    /// - Throws: `fileNotReadable` if git does not answer to the end, as on a full disk.
    private func catFile(_ arguments: [String], _ input: String) throws -> [UInt8] {
        let run = try lines(["cat-file"] + arguments, input: Array(input.utf8))
        guard run.exit == 0 else {
            throw MigrationError(
                .fileNotReadable, "git could not read its objects.", place: root,
                remedy: "Check the repository with `git fsck`, and fetch the whole history.", cause: run.errorText)
        }
        return run.output
    }

    func missing(_ object: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "git does not have the object \(object).", place: root,
            remedy: "Fetch the whole history: `git fetch --unshallow`.")
    }

    /// Whether the repository lacks a part of its history.
    var isShallow: Bool { get throws { try lines(["rev-parse", "--is-shallow-repository"]).line == "true" } }

    static func run(_ arguments: [String], input: [UInt8] = [], otherWay: Remedy = "") throws -> ProgramRun {
        // The messages are parsed below, so they must not be translated.
        // In a hook, git passes the repository's location to child processes as a path relative to another folder.
        let settings = [
            "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_DIR": nil, "GIT_WORK_TREE": nil,
            "GIT_INDEX_FILE": nil, "GIT_PREFIX": nil,
        ]
        guard let run = try ProgramRun("git", arguments, input: input, settings: settings) else {
            throw MigrationError(
                .usage, "This needs git, and there is no program git here.",
                remedy: "Install git.\(otherWay)")
        }
        return run
    }

    /// Returns the error for a failed git command.
    static func error(
        _ run: ProgramRun, _ message: String, _ folder: String, otherWay: Remedy = ""
    ) -> MigrationError {
        if run.errorText.contains("dubious ownership") {
            return MigrationError(
                .usage, "git does not read this repository, because it belongs to another user.", place: folder,
                remedy: "Run `git config --global --add safe.directory \(safeFolder(run) ?? folder.shellQuoted)`.",
                cause: run.errorText)
        }
        return MigrationError(
            .usage, message, place: folder,
            remedy: "Run it in a git repository.\(otherWay)",
            cause: run.errorText.isEmpty ? nil : run.errorText)
    }

    /// The way to check a model without a repository.
    static let withoutRevision: Remedy = " To check without a revision, leave \(option: .since(nil)) out."

    /// Returns the folder that git asks to declare safe.
    private static func safeFolder(_ run: ProgramRun) -> String? {
        run.errorText.split(separator: "\n").first { $0.contains("safe.directory") }
            .flatMap { $0.components(after: "safe.directory ") }
    }
}

extension Substring {
    fileprivate func components(after word: String) -> String? {
        firstRange(of: word).map { String(self[$0.upperBound...]) }
    }
}

/// The paths of files within their repository, as services that display findings expect them.
package struct RepositoryPaths: Sendable {
    /// The folder that relative paths start at, without symbolic links.
    private let folder: String
    /// The root of the repository that contains the model; without a repository, the folder of the model.
    package let root: String

    /// - Parameter model: the path of a model in the repository; nil for the repository around the current directory.
    /// - Throws: any error from reading the folders.
    package init(ofModelAt model: String? = nil) throws {
        let system = POSIXSystem()
        folder = try system.resolve(".")
        let start = model.flatMap { try? system.resolve($0) }.map { Path.folder(of: $0) } ?? folder
        var root = start
        while root != "/", try !system.exists(Path.join(root, ".git")) { root = Path.folder(of: root) }
        self.root = root == "/" ? start : root
    }

    /// Returns the path of a file from the root; nil for a file outside the repository.
    package func place(of path: String) -> String? {
        let whole = path.hasPrefix("/") ? path : Path.join(folder, path)
        let place = (try? POSIXSystem().resolve(whole)) ?? "/" + GitRevision.withoutDots(whole)
        if place == root { return "." }
        return place.hasPrefix(root + "/") ? String(place.dropFirst(root.count + 1)) : nil
    }

    /// - Throws: `usage` for a file outside the repository.
    func required(_ path: String, line: Int? = nil) throws -> String {
        if let place = place(of: path) { return place }
        throw MigrationError(
            .usage, "SARIF names files by their place in the repository, and \(path) is outside of \(root).",
            place: line.map { "\(path):\($0)" } ?? path,
            remedy: "Run lint in the repository of the model, or use another format.")
    }
}

import MoultBasics
import MoultModel
import MoultModelFiles

/// The shapes that one model has at the tags of its repository.
struct ModelHistory: Sendable {
    /// A shape of the model: the versions with the same version hashes, whatever their names.
    struct Shape: Sendable {
        /// The version at the newest of its tags, preferably of one that it was the current version of.
        fileprivate(set) var version: ModelVersion
        /// The file of that version, by its path in the repository.
        fileprivate(set) var path: String
        fileprivate(set) var contents: [UInt8]
        /// The tag of that version.
        fileprivate(set) var tag: String
        /// The positions of the tags whose model has the shape, newest first.
        fileprivate(set) var tags: [Int]
        /// The positions of the tags of which it was the current version, newest first: their apps wrote it.
        fileprivate(set) var releases: [Int] = []
        let checksum: [UInt8]
    }

    /// A path of the model, with the positions of the tags that have it there, newest first.
    struct Place: Sendable {
        let path: String
        fileprivate(set) var tags: [Int]
    }

    /// The names of the tags, oldest first.
    let tags: [String]
    /// The shapes, by the first tag that has each.
    private(set) var shapes: [Shape] = []
    private(set) var places: [Place] = []
    private(set) var findings: [Finding]
    /// The position of each shape while the tags are read, by its checksum.
    private var positions: [[UInt8]: Int] = [:]

    /// The positions of the tags without the model.
    var tagsWithoutModel: [Int] {
        let found = Set(places.flatMap(\.tags))
        return tags.indices.filter { !found.contains($0) }
    }

    /// Follows a model through the tags, from the newest to the oldest.
    ///
    /// - Throws: `fileNotReadable` if git lacks a tree.
    init(of model: RepositoryModel, in tags: GitTags) throws {
        self.tags = tags.tags.map(\.name)
        findings = tags.findings
        let files = try tags.files(takingJSON: model.mayHaveJSON)
        var known: [[GitTags.File]: [ListedModel]] = [:]
        let models = files.map { files in
            let models = known[files] ?? ListedModel.all(among: files.map(\.path), in: model.folders)
            known[files] = models
            return models
        }
        let objects = files.map { files in Dictionary(files.map { ($0.path, $0.object) }) { first, _ in first } }
        let contents = try FileContents(of: models, objects, tags.git)
        var follower = ModelFollower(model)
        var unread: Set<String> = []
        for position in tags.tags.indices.reversed() {
            let objects = objects[position]
            let chosen = follower.models(among: models[position]) { file in
                objects[file].flatMap { contents.version(of: $0, at: file) }
            }
            for model in chosen {
                note(model.path, at: position)
                let mark = model.mark.flatMap { objects[$0] }
                let current = model.currentName(mark: mark.map { contents.bytes[$0] ?? [] })
                for file in model.files {
                    guard let object = objects[file.path] else { continue }
                    do {
                        guard let found = try contents.reading(of: object, at: file.path)?.get() else { continue }
                        // A mark that cannot be read may have named any version.
                        let isRelease = current == nil || current == file.name
                        add(found, file, contents.bytes[object] ?? [], at: position, isRelease: isRelease)
                    } catch {
                        guard unread.insert(object).inserted else { continue }
                        findings.append(.notRead("\(self.tags[position]):\(file.path)", error))
                    }
                }
            }
        }
        shapes.sort { left, right in
            let (one, other) = (left.tags.last ?? 0, right.tags.last ?? 0)
            return one == other ? left.version.name.precedesNaturally(right.version.name) : one < other
        }
    }

    private mutating func note(_ path: String, at position: Int) {
        if let place = places.firstIndex(where: { $0.path == path }) {
            places[place].tags.append(position)
        } else {
            places.append(Place(path: path, tags: [position]))
        }
    }

    private mutating func add(
        _ read: KnownVersion, _ file: ListedModel.File, _ contents: [UInt8], at position: Int, isRelease: Bool
    ) {
        var named = read.version
        named.names = [file.name]
        let place = positions[read.checksum] ?? shapes.count
        if place == shapes.count {
            positions[read.checksum] = place
            shapes.append(
                Shape(
                    version: named, path: file.path, contents: contents, tag: tags[position], tags: [position],
                    checksum: read.checksum))
        } else if shapes[place].tags.last != position {
            shapes[place].tags.append(position)
        }
        guard isRelease, shapes[place].releases.last != position else { return }
        if shapes[place].releases.isEmpty {
            (shapes[place].version, shapes[place].path) = (named, file.path)
            (shapes[place].contents, shapes[place].tag) = (contents, tags[position])
        }
        shapes[place].releases.append(position)
    }
}

/// A version with its checksum, which takes a while to compute.
struct KnownVersion: Sendable {
    let version: ModelVersion
    let checksum: [UInt8]

    init(_ version: ModelVersion) { (self.version, checksum) = (version, version.hashes.checksum) }
}

/// The contents of the model files at all tags, each distinct file read and parsed once.
private struct FileContents {
    /// A file's contents with the form that its path gives it.
    private struct Key: Hashable {
        let object: String
        let form: String

        init(_ object: String, _ path: String) {
            let name = Path.name(of: path)
            (self.object, form) = (object, name.split(separator: ".").last.map(String.init) ?? name)
        }
    }

    /// The size limit of a model file.
    private static let greatestSize = 64 << 20

    private(set) var bytes: [String: [UInt8]] = [:]
    private var versions: [Key: Result<KnownVersion, MigrationError>] = [:]

    /// - Parameters:
    ///   - models: the models at each tag.
    ///   - files: git's object for each file at each tag, by the file's path.
    init(of models: [[ListedModel]], _ files: [[String: String]], _ git: Git) throws {
        var paths: [Key: String] = [:]
        var objects: Set<String> = []
        for (models, known) in zip(models, files) {
            for model in models {
                for file in model.files {
                    guard let object = known[file.path] else { continue }
                    paths[Key(object, file.path)] = file.path
                    objects.insert(object)
                }
                if let mark = model.mark.flatMap({ known[$0] }) { objects.insert(mark) }
            }
        }
        let wanted = objects.sorted()
        for (object, contents) in zip(wanted, try git.contents(ofEach: wanted, limit: Self.greatestSize)) {
            bytes[object] = contents
        }
        let all = paths.sorted { ($0.value, $0.key.object) < ($1.value, $1.key.object) }
        let there = all.filter { bytes[$0.key.object] != nil }
        let read = ListedModel.versions(of: there.map { ($0.value, bytes[$0.key.object] ?? []) })
        for ((key, _), version) in zip(there, read) { versions[key] = version?.map(KnownVersion.init) }
        for (key, path) in all where bytes[key.object] == nil { versions[key] = .failure(Self.missing(path)) }
    }

    /// Returns the version in a file; nil for another program's JSON.
    func reading(of object: String, at path: String) -> Result<KnownVersion, MigrationError>? {
        versions[Key(object, path)]
    }

    /// Returns the version in a file; nil if there is none that can be read.
    func version(of object: String, at path: String) -> KnownVersion? { try? reading(of: object, at: path)?.get() }

    private static func missing(_ path: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "git does not have the file, or it is larger than any model.", place: path,
            remedy: "Fetch the whole history: `git fetch --unshallow`.")
    }
}

extension Finding {
    fileprivate static func notRead(_ place: String, _ error: any Error) -> Finding {
        let message = (error as? MigrationError)?.message ?? "\(error)"
        return Finding(
            code: "tag-not-read", severity: .warning, place: place,
            message: "The version cannot be read, and is left out. \(message)",
            remedy: "Correct a copy of it by hand and add it to the model, if the app of this tag was released.")
    }
}

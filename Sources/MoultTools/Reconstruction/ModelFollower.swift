import MoultBasics
import MoultModel
import MoultModelFiles

/// A model of the working tree, with its place in the repository.
struct RepositoryModel: Sendable {
    /// The path from the root of the repository; nil for a model that a program provides.
    let path: String?
    let kind: ListedModel.Kind
    let versions: [ModelVersion]
    let root: String

    /// - Throws: `usage` for one version of a bundle, a model outside of the repository, and one that no repository
    ///   keeps, such as that of a store.
    init(_ bundle: ModelBundle, isInFiles: Bool, in git: Git) throws {
        (versions, root) = (bundle.versions, git.root)
        guard isInFiles else {
            (path, kind) = (nil, .exported)
            return
        }
        if let whole = ModelBundle.bundle(aroundVersionAt: bundle.path) {
            throw MigrationError(
                .usage, "This is one version of \(whole).", place: bundle.path,
                remedy: "Name the whole model: \(.reconstruct, .path(whole))")
        }
        // The model of a source file is its folder; a .mom is a model itself.
        let file = bundle.versions.first.flatMap { bundle.files[$0.name] }
        let listed = file.flatMap { ListedModel.all(among: [$0]).first?.kind }
        let isFile = bundle.path == file && listed != .compiled
        let place = isFile ? Path.folder(of: bundle.path) : bundle.path
        guard let listed, let whole = try? POSIXSystem().resolve(place) else {
            throw MigrationError(
                .usage, "The versions are in no model files.", place: bundle.path,
                remedy: "Name the model as the repository keeps it: an .xcdatamodeld, an .xcdatamodel or a folder.")
        }
        (path, kind) = (try git.place(of: whole, named: bundle.path), listed)
    }

    /// The plain folder of versions that the model is, by its path; empty for any other.
    var folders: Set<String> {
        guard let path, !["xcdatamodeld", "xcdatamodel", "momd", "mom"].contains(path.fileExtension) else { return [] }
        return [path]
    }

    /// Returns whether a JSON file may be a version of the model: a repository has many that are not.
    func mayHaveJSON(_ name: String, in folder: String) -> Bool {
        guard kind == .exported else { return false }
        return path.map { Path.name(of: $0) == folder } == true || versions.contains { "\($0.name).json" == name }
    }
}

/// Finds one model among the models at each tag, from the newest tag to the oldest.
///
/// It is the one at a path where it was at a newer tag. If there is none, the model was moved or renamed since: then it is
/// the one of the same name that shares an entity hash or half of the entity names, or the one that shares half of the
/// entity hashes. A model that was beside it at a newer tag is another one.
struct ModelFollower {
    private let model: RepositoryModel
    /// The paths where the model was, newest first.
    private var paths: [ListedModel.Kind: [String]] = [:]
    private var others: [ListedModel.Kind: Set<String>] = [:]
    private var names: Set<String> = []
    private var entityNames: Set<String> = []
    private var entityHashes: Set<[UInt8]> = []
    private var taken: Set<[UInt8]> = []

    init(_ model: RepositoryModel) {
        self.model = model
        if let path = model.path {
            paths[model.kind] = [path]
            names = [Path.stem(of: path)]
        }
        for version in model.versions { take(KnownVersion(version)) }
    }

    private mutating func take(_ known: KnownVersion) {
        guard taken.insert(known.checksum).inserted else { return }
        entityNames.formUnion(known.version.hashes.entities.keys)
        entityHashes.formUnion(known.version.hashes.entities.values)
    }

    /// Returns the models at the next older tag that are this one, at most one bundle of each kind.
    ///
    /// - Parameter version: returns the version in a file; nil for one that cannot be read.
    mutating func models(
        among models: [ListedModel], version: (_ path: String) -> KnownVersion?
    ) -> [ListedModel] {
        var found: [ListedModel] = []
        for kind in ListedModel.Kind.allCases {
            let all = models.filter { $0.kind == kind }
            let known = paths[kind, default: []].lazy.compactMap { path in all.first { $0.path == path } }.first
            if let known {
                others[kind, default: []].formUnion(all.map(\.path).filter { !paths[kind, default: []].contains($0) })
                found.append(known)
            } else if let moved = best(among: all.filter { isFree($0) }, version) {
                paths[kind, default: []].insert(moved.path, at: 0)
                names.insert(moved.name)
                found.append(moved)
            }
            // Single compiled versions lie side by side.
            let singles = kind == .compiled ? all.filter { $0.isSingle && $0 != found.last } : []
            found += singles.filter { likeness(of: $0, version).isHalf }
        }
        for model in found {
            for file in model.files { if let version = version(file.path) { take(version) } }
        }
        return found
    }

    /// Whether a model is not known to be another one.
    private func isFree(_ other: ListedModel) -> Bool {
        guard others[other.kind]?.contains(other.path) != true else { return false }
        // A model of the same kind in the working tree is another one. One of another kind may be a form of this one.
        return other.kind != model.kind || model.path == nil
            || (try? POSIXSystem().exists(Path.join(model.root, other.path))) != true
    }

    private func best(among models: [ListedModel], _ version: (String) -> KnownVersion?) -> ListedModel? {
        var best: (model: ListedModel, hashes: Int, isNamesake: Bool)?
        for model in models {
            let likeness = likeness(of: model, version)
            let isNamesake = names.contains(model.name)
            guard likeness.isHalf || isNamesake && (likeness.hashes > 0 || likeness.hasHalfOfNames) else { continue }
            if let best, (best.hashes, best.isNamesake ? 1 : 0) >= (likeness.hashes, isNamesake ? 1 : 0) { continue }
            best = (model, likeness.hashes, isNamesake)
        }
        return best?.model
    }

    private struct Likeness {
        /// The number of entity hashes that the model shares with what is known of this one.
        var hashes = 0
        /// Whether a version shares at least half of its entity hashes, or of its entity names.
        var isHalf = false
        var hasHalfOfNames = false
    }

    private func likeness(of model: ListedModel, _ version: (String) -> KnownVersion?) -> Likeness {
        var likeness = Likeness()
        for file in model.files {
            guard let entities = version(file.path)?.version.hashes.entities, !entities.isEmpty else { continue }
            let hashes = entities.values.count { entityHashes.contains($0) }
            likeness.hashes = max(likeness.hashes, hashes)
            if hashes * 2 >= entities.count { likeness.isHalf = true }
            if entities.keys.count(where: entityNames.contains) * 2 >= entities.count { likeness.hasHalfOfNames = true }
        }
        return likeness
    }
}

/// One version of a model with its identity.
public struct ModelVersion: Sendable, Equatable {
    /// The version's names, the file's stem first; more than one where versions have equal hashes.
    public package(set) var names: [String]
    /// The entities and properties of this version.
    public package(set) var model: ManagedObjectModel
    package var hashes: VersionHashes
    /// Older versions with equal hashes, which may differ in what the hashes leave out, such as renaming identifiers.
    package private(set) var namesakes: [ModelVersion] = []
    /// Whether it lies inside a store, which is not the only one to have a version of that name.
    package var isInsideStore = false
    /// The model that this one is the part of that a store holds; nil where this is all of it.
    var whole: ManagedObjectModel?

    package init(names: [String], model: ManagedObjectModel, hashes: VersionHashes? = nil) {
        self.names = names
        self.model = model
        self.hashes = hashes ?? VersionHashes(of: model)
    }

    /// The first of ``names``, by which the version is shown; empty where it has none.
    public var name: String { names.first ?? "" }

    fileprivate mutating func take(_ older: ModelVersion) {
        names += older.names
        namesakes += older.namesakes
        var older = older
        (older.names, older.namesakes) = ([older.name], [])
        namesakes.append(older)
    }

    /// The version as one of its names has it, which comes first then.
    package func named(_ name: String) -> ModelVersion {
        guard let namesake = namesakes.first(where: { $0.name == name }) else { return self }
        var version = self
        version.model = namesake.model
        version.names = [name] + names.filter { $0 != name }
        return version
    }
}

/// The versions of one model, oldest first: every edge of a migration runs between neighbours.
public struct ModelVersions: Sendable, Equatable {
    /// Oldest first. Versions with equal hashes are one node with several names.
    public package(set) var versions: [ModelVersion]
    /// The version the bundle calls current (`.xccurrentversion`, `VersionInfo.plist`), by name.
    public package(set) var currentName: String?
    /// The reason why the current version is not known although the bundle marks one; nil where it is known, or none is
    /// marked.
    package var currentFault: MigrationError?
    /// The findings from reading the model, such as elements that Moult does not know.
    package var findings: [Finding]

    package init(versions: [ModelVersion], currentName: String? = nil, findings: [Finding] = []) {
        self.versions = versions
        self.currentName = currentName
        self.findings = findings
    }

    /// Versions in the order given, oldest first, where those with equal hashes become one node.
    ///
    /// The node stands where the newest of them stands, so that a store of a version that came back is not behind it;
    /// it has the newest one's model, whose name comes first.
    package init(joining versions: [ModelVersion], currentName: String? = nil, findings: [Finding] = []) {
        var nodes: [ModelVersion] = []
        for version in versions {
            var node = version
            if let earlier = nodes.firstIndex(where: { $0.hashes.isCompatible(with: version.hashes) }) {
                node.take(nodes.remove(at: earlier))
            }
            nodes.append(node)
        }
        self.init(versions: nodes, currentName: currentName, findings: findings)
    }

    /// The same versions, where a node that goes by `name` is that version itself and not a newer one of equal hashes.
    package func taking(_ name: String?) -> ModelVersions {
        guard let name, let position = position(named: name) else { return self }
        var taken = self
        taken.versions[position] = versions[position].named(name)
        return taken
    }

    /// The position of the version that goes by `name`.
    package func position(named name: String) -> Int? { versions.firstIndex { $0.names.contains(name) } }

    /// The position of a store's version: see ``place(of:identifiers:as:toward:)``.
    package func position(matching hashes: VersionHashes, identifiers: [String] = []) -> Int? {
        place(of: hashes, identifiers: identifiers)?.position
    }
}

extension ManagedObjectModel {
    func isIdentified(by identifiers: [String]) -> Bool {
        versionIdentifiers.contains { !$0.isEmpty && identifiers.contains($0) }
    }
}

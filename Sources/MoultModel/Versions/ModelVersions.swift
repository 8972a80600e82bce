import MoultBasics

/// A version of a model with its identity.
public struct ModelVersion: Sendable, Equatable {
    /// The version's names, the file's stem first; several if versions have equal hashes.
    public package(set) var names: [String]
    /// The entities and properties of this version.
    public package(set) var model: ManagedObjectModel
    package var hashes: VersionHashes
    /// Older versions with equal hashes, which may differ in unhashed details such as renaming identifiers.
    package private(set) var namesakes: [ModelVersion] = []
    /// Whether the version comes from inside a store, where its name need not be unique.
    package var isInsideStore = false
    /// Whether the name is only that of the store's file, because the store says none.
    package var isUnnamed = false
    /// The model that this one is a part of, if a store holds only a part; nil if this is the whole model.
    var whole: ManagedObjectModel?

    package init(names: [String], model: ManagedObjectModel, hashes: VersionHashes? = nil) {
        self.names = names
        self.model = model
        self.hashes = hashes ?? VersionHashes(of: model)
    }

    /// The first of ``names``, for display; empty if there is none.
    public var name: String { names.first ?? "" }

    /// The version as a noun of a sentence.
    package var title: String { isUnnamed ? "a version without a name" : "version \(name)" }

    fileprivate mutating func take(_ older: ModelVersion) {
        names += older.names
        namesakes += older.namesakes
        var older = older
        (older.names, older.namesakes) = ([older.name], [])
        namesakes.append(older)
    }

    /// Returns the version under one of its names, which then comes first, with the model of that name.
    package func named(_ name: String) -> ModelVersion {
        guard let namesake = namesakes.first(where: { $0.name == name }) else { return self }
        var version = self
        version.model = namesake.model
        version.names = [name] + names.filter { $0 != name }
        return version
    }
}

/// The versions of one model, oldest first. Migrations run between neighbours.
public struct ModelVersions: Sendable, Equatable {
    /// The versions, oldest first. Versions with equal hashes are one node with several names.
    public package(set) var versions: [ModelVersion]
    /// The name of the bundle's current version (`.xccurrentversion`, `VersionInfo.plist`).
    public package(set) var currentName: String?
    /// The reason why the marked current version is unknown; nil if it is known, or none is marked.
    package var currentFault: MigrationError?
    /// The findings from reading the model, such as elements unknown to Moult.
    package var findings: [Finding]

    package init(versions: [ModelVersion], currentName: String? = nil, findings: [Finding] = []) {
        (self.versions, self.currentName, self.findings) = (versions, currentName, findings)
    }

    /// Creates the list in the given order, oldest first. Versions with equal hashes become one node.
    ///
    /// A node takes the position of its newest version, so that a store of a reintroduced version counts as new. It has
    /// that version's model, and that version's name first.
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

    /// Returns the same versions, with the node of `name` as that version and not a newer one with equal hashes.
    package func taking(_ name: String?) -> ModelVersions {
        guard let name, let position = position(named: name) else { return self }
        var taken = self
        taken.versions[position] = versions[position].named(name)
        return taken
    }

    /// Returns the position of the version with this name.
    package func position(named name: String) -> Int? { versions.firstIndex { $0.names.contains(name) } }

    /// Returns the position of a store's version; see ``place(of:identifiers:as:toward:)``.
    package func position(matching hashes: VersionHashes, identifiers: [String] = []) -> Int? {
        place(of: hashes, identifiers: identifiers)?.position
    }
}

extension ManagedObjectModel {
    func isIdentified(by identifiers: [String]) -> Bool {
        versionIdentifiers.contains { !$0.isEmpty && identifiers.contains($0) }
    }
}

/// The entities of a version that a store contains or will contain.
package enum StorePart: Sendable, Hashable {
    /// All entities, as in a store that is opened without a configuration.
    case whole
    /// The entities of the configuration of that name.
    case configuration(String)
}

/// The position of a store in the versions of its model.
package struct StorePlace: Sendable {
    package let position: Int
    /// The version at that position; if several have equal hashes, the one whose configuration the store contains.
    package let version: ModelVersion
    /// The store's configuration; nil if it contains all entities, or a set that is no configuration.
    package let configuration: String?
}

extension ModelVersion {
    /// The whole model, if this is only a part of it.
    package var wholeModel: ManagedObjectModel { whole ?? model }

    /// Returns the version as seen by a store that is opened with a configuration: only that configuration's entities.
    ///
    /// - Throws: `unsupported` if the version has no configuration of that name.
    package func restricted(to configuration: String) throws(MigrationError) -> ModelVersion {
        guard let known = model.configurations.first(where: { $0.name == configuration }) else {
            throw MigrationError(
                .unsupported, "The store holds the configuration \(configuration), which \(name) does not have.",
                place: name, remedy: "Add the configuration to \(name), or migrate to a version that has it.")
        }
        return try part(Set(known.entityNames), [known])
    }

    /// Returns the part of the version that a store is to contain.
    ///
    /// - Throws: `unsupported` if the version has no such configuration.
    package func restricted(to part: StorePart) throws(MigrationError) -> ModelVersion {
        switch part {
        case .whole: self
        case .configuration(let name): try restricted(to: name)
        }
    }

    /// Returns the version as a store contains it: only the entities among its hashes.
    package func held(by hashes: VersionHashes) throws(MigrationError) -> ModelVersion {
        guard !hashes.entities.isEmpty, model.entities.contains(where: { hashes.entities[$0.name] == nil }) else {
            return self
        }
        return try part(Set(hashes.entities.keys), configurations(matching: hashes))
    }

    /// Returns the part of this version that a store contains, and the part of another version that it is to contain.
    ///
    /// - Parameter part: nil for the same configuration; otherwise the store may contain any entities of this version.
    /// - Throws: `unsupported` if the other version lacks the configuration.
    package func parts(
        of hashes: VersionHashes, to target: ModelVersion, as part: StorePart?
    ) throws(MigrationError) -> (ModelVersion, ModelVersion) {
        if let part { return (try held(by: hashes), try target.restricted(to: part)) }
        guard !self.hashes.isCompatible(with: hashes), let (form, configuration) = configured(as: hashes) else {
            return (self, target)
        }
        return (try form.restricted(to: configuration), try target.restricted(to: configuration))
    }

    private func part(_ names: Set<String>, _ configurations: [Configuration]) throws(MigrationError) -> ModelVersion {
        var part = self
        do {
            part.model = try ManagedObjectModel(
                entities: model.entities.filter { names.contains($0.name) }, configurations: configurations,
                composites: model.composites, versionIdentifiers: model.versionIdentifiers,
                documentAttributes: model.documentAttributes)
            part.model.describesCloudEncryption = model.describesCloudEncryption
        } catch {
            throw error as? MigrationError ?? .modelInvalid("\(error)", place: name, remedy: "Correct the model.")
        }
        part.hashes = VersionHashes(of: part.model)
        part.whole = wholeModel
        return part
    }

    /// Returns the configurations with exactly the entities of a store, with equal hashes.
    package func configurations(matching hashes: VersionHashes) -> [Configuration] {
        model.configurations.filter { configuration in
            !configuration.entityNames.isEmpty && Set(configuration.entityNames) == Set(hashes.entities.keys)
                && hashes.entities.allSatisfy { self.hashes.entities[$0.key] == $0.value }
        }
    }

    /// Returns this version, or the newest with equal hashes, that has a configuration of exactly a store's entities.
    ///
    /// - Parameter name: the name of the configuration; nil for any.
    package func configured(
        as hashes: VersionHashes, _ name: String? = nil
    ) -> (version: ModelVersion, configuration: String)? {
        for form in [self] + namesakes.reversed().map({ named($0.name) }) {
            let found = form.configurations(matching: hashes).first { name == nil || $0.name == name }
            if let found { return (form, found.name) }
        }
        return nil
    }

    /// The version under a name that marks it as the store's own.
    package var calledTheStoresOwn: ModelVersion {
        var own = self
        own.names = [name + " (the store's own)"]
        return own
    }

    /// Whether the version has every entity of a store, with equal hashes.
    fileprivate func hasAll(of hashes: VersionHashes) -> Bool {
        !hashes.entities.isEmpty && hashes.entities.allSatisfy { self.hashes.entities[$0.key] == $0.value }
    }
}

extension ModelVersions {
    /// Returns the place of the version whose hashes equal a store's. Otherwise returns that of the last version with a
    /// configuration of exactly the store's entities, with equal hashes, for a store opened with that configuration.
    ///
    /// - Parameters:
    ///   - identifiers: the version identifiers in the store's metadata. They select among several versions with equal
    ///     hashes, which differ by the effect of an app's code on the data; the default is the first.
    ///   - part: the part that the store is opened as, if known. A configuration takes precedence, and the store may
    ///     then contain any entities of a version, because its configuration may have had others before.
    ///   - goal: the target position, which is preferred if a configuration has not changed since.
    package func place(
        of hashes: VersionHashes, identifiers: [String] = [], as part: StorePart? = nil, toward goal: Int? = nil
    ) -> StorePlace? {
        var wanted: String?
        if case .configuration(let name) = part { wanted = name }
        if let wanted, let place = configured(as: hashes, wanted, toward: goal) { return place }
        let matching = versions.indices.filter { versions[$0].hashes.isCompatible(with: hashes) }
        let named = matching.count > 1 ? matching.last { versions[$0].model.isIdentified(by: identifiers) } : nil
        if let position = named ?? matching.first {
            return StorePlace(position: position, version: versions[position], configuration: nil)
        }
        if let place = configured(as: hashes, nil, toward: goal) { return place }
        guard wanted != nil, let position = versions.lastIndex(where: { $0.hasAll(of: hashes) }) else { return nil }
        return StorePlace(position: position, version: versions[position], configuration: nil)
    }

    private func configured(as hashes: VersionHashes, _ name: String?, toward goal: Int?) -> StorePlace? {
        let order = [goal].compactMap { $0 } + versions.indices.reversed()
        for position in order {
            guard let found = versions[position].configured(as: hashes, name) else { continue }
            return StorePlace(position: position, version: found.version, configuration: found.configuration)
        }
        return nil
    }
}

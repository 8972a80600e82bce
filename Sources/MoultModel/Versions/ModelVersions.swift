import MoultBasics

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
        (self.versions, self.currentName, self.findings) = (versions, currentName, findings)
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

/// The entities of a version that a store holds, or is to hold.
package enum StorePart: Sendable, Hashable {
    /// All, as a store has them that is opened without a configuration.
    case whole
    /// The entities of the configuration of that name.
    case configuration(String)
}

/// The position of a store among the versions of its model.
package struct StorePlace: Sendable {
    package let position: Int
    /// The version at that position; of several with equal hashes, the one whose configuration the store holds.
    package let version: ModelVersion
    /// The configuration that the store holds; nil where it holds all entities, or others than any configuration's.
    package let configuration: String?
}

extension ModelVersion {
    /// The whole model, where this is a part of it.
    package var wholeModel: ManagedObjectModel { whole ?? model }

    /// The version as a store sees it that is opened with a configuration: only that configuration's entities.
    ///
    /// - Throws: `unsupported` where the version has no configuration of that name.
    package func restricted(to configuration: String) throws(MigrationError) -> ModelVersion {
        guard let known = model.configurations.first(where: { $0.name == configuration }) else {
            throw MigrationError(
                .unsupported, "The store holds the configuration \(configuration), which \(name) does not have.",
                place: name, remedy: "Add the configuration to \(name), or migrate to a version that has it.")
        }
        return try part(Set(known.entityNames), [known])
    }

    /// The part of the version that a store is to hold.
    ///
    /// - Throws: `unsupported` where the version has no such configuration.
    package func restricted(to part: StorePart) throws(MigrationError) -> ModelVersion {
        switch part {
        case .whole: self
        case .configuration(let name): try restricted(to: name)
        }
    }

    /// The version as a store has it: only the entities that its hashes name.
    package func held(by hashes: VersionHashes) throws(MigrationError) -> ModelVersion {
        guard !hashes.entities.isEmpty, model.entities.contains(where: { hashes.entities[$0.name] == nil }) else {
            return self
        }
        return try part(Set(hashes.entities.keys), configurations(matching: hashes))
    }

    /// The part of this version that a store holds, and the part of another version that it is to hold.
    ///
    /// - Parameter part: nil for the same configuration; otherwise the store may hold any entities of this version.
    /// - Throws: `unsupported` where the other version lacks the configuration.
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
        } catch {
            throw error as? MigrationError ?? .modelInvalid("\(error)", place: name, remedy: "Correct the model.")
        }
        part.hashes = VersionHashes(of: part.model)
        part.whole = wholeModel
        return part
    }

    /// The configurations whose entities, with equal hashes, are just those of a store.
    package func configurations(matching hashes: VersionHashes) -> [Configuration] {
        model.configurations.filter { configuration in
            !configuration.entityNames.isEmpty && Set(configuration.entityNames) == Set(hashes.entities.keys)
                && hashes.entities.allSatisfy { self.hashes.entities[$0.key] == $0.value }
        }
    }

    /// The version, or the newest of those with equal hashes, that has a configuration of just a store's entities.
    ///
    /// - Parameter name: of the configuration; nil for any.
    package func configured(
        as hashes: VersionHashes, _ name: String? = nil
    ) -> (version: ModelVersion, configuration: String)? {
        for form in [self] + namesakes.reversed().map({ named($0.name) }) {
            let found = form.configurations(matching: hashes).first { name == nil || $0.name == name }
            if let found { return (form, found.name) }
        }
        return nil
    }

    /// The version of a store, told apart from those of a model.
    package var calledTheStoresOwn: ModelVersion {
        var own = self
        own.names = [name + " (the store's own)"]
        return own
    }

    /// Whether the version has every entity of a store with equal hashes.
    fileprivate func hasAll(of hashes: VersionHashes) -> Bool {
        !hashes.entities.isEmpty && hashes.entities.allSatisfy { self.hashes.entities[$0.key] == $0.value }
    }
}

extension ModelVersions {
    /// The place of the version whose hashes equal a store's; otherwise of the last version that has a configuration
    /// of just the store's entities with equal hashes, for a store that was opened with that configuration.
    ///
    /// - Parameters:
    ///   - identifiers: what the store's metadata call its version. Of several versions with equal hashes,
    ///     which differ by what an app's code made of the data, it is the one that they name, otherwise the first.
    ///   - part: what the store is opened as, where that is known. A configuration comes before everything else, and a
    ///     store may then hold any entities of a version: its configuration may have had others before.
    ///   - goal: the position aimed at, which comes first where a configuration has not changed since.
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

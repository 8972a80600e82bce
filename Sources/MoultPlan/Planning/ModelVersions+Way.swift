import MoultModel

extension ModelVersions {
    /// The versions as a store goes through them, the positions that it starts and ends at, and what it holds at the end.
    struct StoreWay {
        var versions: ModelVersions
        let start: Int
        var end: Int
        let part: StorePart
        /// The configurations that the store may be of just as well, and would end with other entities. Nobody has said
        /// which it is.
        var alternatives: [String] = []
    }

    /// The way of a store to a version.
    ///
    /// Versions with equal hashes are one place on the way. A store of a configuration may differ between them all the
    /// same: where the store has other entities than it is to hold there, its version and the one aimed at are two.
    ///
    /// - Parameters:
    ///   - target: the name of the version aimed at; nil for the current one.
    ///   - part: what the store is to hold; nil for what it holds now.
    /// - Returns: nil if the store is of none of the versions.
    /// - Throws: `noPath` if there is no version of that name; `unsupported` where it lacks the configuration.
    func way(
        of hashes: VersionHashes, identifiers: [String], to target: String?, as part: StorePart?
    ) throws(MigrationError) -> StoreWay? {
        let end = try self.target(named: target)
        guard let place = place(of: hashes, identifiers: identifiers, as: part, toward: end) else { return nil }
        let isSaid = part != nil
        let part = part ?? place.configuration.map(StorePart.configuration) ?? .whole
        var way = StoreWay(versions: taking(target ?? currentName), start: place.position, end: end, part: part)
        if !isSaid {
            let model = way.versions.versions[end].model
            func held(_ name: String?) -> [String]? { model.entities(forConfigurationName: name)?.map(\.name).sorted() }
            way.alternatives = place.version.configurations(matching: hashes).map(\.name).filter {
                held($0) != nil && held($0) != held(place.configuration)
            }
        }
        guard place.position == end else {
            way.versions.versions[place.position] = place.version
            return way
        }
        var goal = way.versions.versions[end]
        guard try Set(goal.restricted(to: part).model.entities.map(\.name)) != Set(hashes.entities.keys) else {
            return way
        }
        var own = try place.version.held(by: hashes)
        own = own.name == goal.name ? own.calledTheStoresOwn : own.alone
        goal.names.removeAll(where: own.names.contains)
        way.versions.versions.replaceSubrange(end...end, with: [own, goal])
        way.end += 1
        return way
    }
}

extension ModelVersion {
    /// The version by its first name only.
    fileprivate var alone: ModelVersion {
        var alone = self
        alone.names = [name]
        return alone
    }
}

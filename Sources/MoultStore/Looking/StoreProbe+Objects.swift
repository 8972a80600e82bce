import MoultModel
import MoultPlan

extension StoreProbe {
    /// Calls `body` for each object of a store, ordered by entity and key. The store is not changed, and one object is in
    /// memory at a time.
    ///
    /// - Parameters:
    ///   - entityName: the entity; nil for all.
    ///   - includingSubentities: whether the objects of its sub-entities come too.
    ///   - versions: one of which the store is; empty to use the model inside it.
    /// - Throws: `storeUnknown` for a store of none of the versions; `modelNotFound` if there is no readable model inside;
    ///   `usage` for an entity that the model does not have; `locked` if another process wrote to the store meanwhile, so
    ///   that what `body` was given may mix two states.
    package static func forEachObject(
        of entityName: String? = nil, includingSubentities: Bool = false, in store: String, versions: ModelVersions,
        _ body: (ObjectRow) throws -> Void
    ) throws {
        let probe = try StoreProbe(store)
        defer { probe.close() }
        try probe.undisturbed {
            let layout = try probe.layout(by: versions)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            for entity in try entities(named: entityName, in: layout.model) {
                try reader.forEachObject(of: entity, includingSubentities: includingSubentities, body)
            }
        }
    }

    /// Calls `body`, which reads the store once and hands on what it reads.
    ///
    /// - Throws: `locked` if another process wrote to the store while it was read without a lock: neither what was read
    ///   nor an error of `body` says anything about the store then.
    package func undisturbed<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch let error as MigrationError {
            try checkUndisturbed()
            throw error
        }
        try checkUndisturbed()
        return result
    }

    private func checkUndisturbed() throws {
        guard way == .immutable, !isUndisturbed else { return }
        throw MigrationError(
            .locked, "Another process wrote to the store while it was read. What was printed may mix two states.",
            place: path, remedy: "Close every app that has it open and run the command again.")
    }

    private func layout(by versions: ModelVersions) throws -> StoreLayout {
        let snapshot = try StoreSnapshot(connection)
        let recognition = try StoreRecognition(of: snapshot, in: versions)
        if !versions.versions.isEmpty, recognition.position == nil {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
        }
        guard let model = recognition.model else {
            throw MigrationError(
                .modelNotFound, "The store contains no readable model.", place: path,
                remedy: "Name the model that made it: \(option: .model("PATH")).")
        }
        return try StoreLayout(actual: snapshot, model: model)
    }

    private static func entities(named name: String?, in model: ManagedObjectModel) throws -> [EntityDescription] {
        guard let name else { return model.entities }
        if let entity = model.entity(name) { return [entity] }
        let names = model.entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
        throw MigrationError(
            .usage, "The model has no entity \(name).\(near)", place: name,
            remedy: "Its entities are: \(names.joined(separator: ", ")).")
    }
}

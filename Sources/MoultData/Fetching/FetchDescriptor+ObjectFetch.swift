import Foundation
import MoultModel
import MoultObjects

extension FetchDescriptor {
    /// The fetch as a store is asked for it.
    ///
    /// - Throws: `usage` for a model that the schema does not have, `fetchUnsupported` for a part of the predicate or
    ///   the sort that no store can answer.
    package func objectFetch(in schema: Schema) throws -> ObjectFetch {
        let entity = try schema.fetchedEntity(T.self)
        var fetch = ObjectFetch(entityName: entity, predicate: try predicate.map(schema.predicate))
        fetch.sort = try sortBy.map { try $0.sortTerm() }
        fetch.limit = max(fetchLimit ?? 0, 0)
        fetch.offset = max(fetchOffset ?? 0, 0)
        fetch.includesPendingChanges = includePendingChanges
        fetch.prefetched = try relationshipKeyPathsForPrefetching.map { try relationship($0, of: entity) }
        fetch.properties = Set(try propertiesToFetch.flatMap { try columns($0, of: entity) })
        // A relationship that is read ahead starts at the object's own row.
        if !fetch.properties.isEmpty {
            fetch.properties.formUnion(fetch.prefetched.compactMap { $0.split(separator: ".").first.map(String.init) })
        }
        return fetch
    }

    private func columns(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> [String] {
        if let property = ModelProperties.of(T.self)[keyPath] { return property.paths }
        throw MigrationError(
            .usage, "propertiesToFetch names \(keyPath), which is not a stored property of \(entity).", place: entity,
            remedy: "Name stored properties of \(entity), one step long.")
    }

    private func relationship(_ keyPath: PartialKeyPath<T>, of entity: String) throws -> String {
        if let path = StoredPath(keyPath), case .relationship = path.end { return path.names.joined(separator: ".") }
        throw MigrationError(
            .usage, "relationshipKeyPathsForPrefetching names \(keyPath), which leads to no model.", place: entity,
            remedy: "Name relationships of \(entity), such as \\.author or \\.author.books.")
    }
}

extension Schema {
    /// A predicate in the words that a store is asked in. Values that it captured are read now.
    ///
    /// - Throws: `usage` for a model that the schema does not have, `fetchUnsupported` for a part that no store can
    ///   answer, with that part.
    package func predicate<T>(_ predicate: Foundation.Predicate<T>) throws -> MoultModel.Predicate {
        guard let model = T.self as? any PersistentModel.Type else {
            throw MigrationError(
                .usage, "\(T.self) is not a model.", remedy: "Fetch objects of a class with @Model.")
        }
        var translation = PredicateTranslation(self, entity: try fetchedEntity(model))
        translation.terms[predicate.variable.key] = .object(.evaluatedObject, model)
        return try translation.predicate(predicate.expression)
    }

    /// The name of the entity of a model that the schema has.
    func fetchedEntity(_ model: any PersistentModel.Type) throws -> String {
        let name = ModelProperties.of(model).entityName
        if types[name].map({ $0 == model }) == true { return name }
        let known = types.keys.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", ")
        throw MigrationError(
            .usage, "\(String(reflecting: model)) is not a model of this schema.", place: name,
            remedy: "Name it among the models of the container; those are: \(known).")
    }
}

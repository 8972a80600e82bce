import MoultBasics
import MoultModel
import MoultPlan
import MoultStore

extension PolicyRun {
    /// Runs the first pass over one entity mapping: makes the objects for each source object, in batches by key.
    func makeInstances(_ mapping: RunningMapping, _ manager: MigrationManager) throws {
        try call(mapping, manager) { policy, written in try policy.begin(written, with: manager) }
        if let name = mapping.mapping.sourceEntityName {
            do {
                try prepare(mapping, from: name, manager)
            } catch {
                throw PolicyFault(error, nil).error(mapping)
            }
            try readBatches(mapping, manager)
        }
        try call(mapping, manager) { policy, written in
            try policy.endInstanceCreation(forMapping: written, manager: manager)
        }
        manager.sources.endBatches()
    }

    private func readBatches(_ mapping: RunningMapping, _ manager: MigrationManager) throws {
        guard let reader = mapping.reader, let policy = mapping.policy else { return }
        let written = mapping.entityMapping
        let name = mapping.mapping.sourceEntityName ?? ""
        var source: SourceObject?
        manager.begin(mapping)
        try manager.inBatches("Call the policy \(mapping.policyName) for the objects of \(name).") { after, count in
            var (last, found) = (after, 0)
            try reader.begin(after: after, count: count)
            manager.sources.begin(reader, after: after, count: count)
            while let key = try reader.next() {
                found += 1
                last = key
                let present = next(&source, key, reader, manager)
                try make(present, mapping, policy, written, manager)
            }
            do { try manager.writeWaiting() } catch { throw PolicyFault(error, nil).error(mapping) }
            guard progress(manager.doneSources, "\(mapping.policyName) has made what becomes of \(name)") else {
                throw Self.cancelled
            }
            return found < count ? nil : last
        }
    }

    /// Returns the object of the reader's row. Reuses the previous object unless the policy still holds it.
    private func next(
        _ source: inout SourceObject?, _ key: Int64, _ reader: InstanceReader, _ manager: MigrationManager
    ) -> SourceObject {
        if isKnownUniquelyReferenced(&source), let source {
            source.move(to: key)
            return source
        }
        source?.leaveReader()
        let new = SourceObject(manager, reader.entity, key: key, reader: reader)
        source = new
        return new
    }

    private func make(
        _ source: SourceObject, _ mapping: RunningMapping, _ policy: EntityMigrationPolicy, _ written: EntityMapping,
        _ manager: MigrationManager
    ) throws {
        manager.currentSource = source
        defer { manager.currentSource = nil }
        do {
            try policy.createDestinationInstances(forSource: source, in: written, manager: manager)
            try manager.finish(source, mapping)
        } catch {
            let reference = ObjectReference(entityName: source.entityName, primaryKey: source.key)
            throw PolicyFault(error, reference).error(mapping)
        }
    }

    // MARK: - The mapping's expressions

    /// Looks up everything that the mapping's rows need, once.
    private func prepare(_ mapping: RunningMapping, from name: String, _ manager: MigrationManager) throws {
        var expressions: [Expression] = []
        var mapped: [String: MappedExpression] = [:]
        for (attribute, source) in mapping.mapping.attributes {
            guard case .expression(let expression) = source else { continue }
            mapped[attribute] = try map(expression, mapping, &expressions)
        }
        let reader = try InstanceReader(
            name, predicate: mapping.mapping.predicate?.replacing(\.ofEvaluatedObject), expressions: expressions,
            in: manager.sources.store)
        mapping.reader = reader
        guard let to = mapping.mapping.destinationEntityName else { return }
        let entity = try manager.entity(to)
        mapping.entity = entity
        mapping.plan = InstancePlan(
            mapping.mapping, to: entity, from: reader, expressions: mapped,
            toOnes: carriedToOnes(mapping, entity, reader, manager))
    }

    private func map(
        _ expression: Expression, _ mapping: RunningMapping, _ expressions: inout [Expression]
    ) throws -> MappedExpression {
        guard case .message(let name, .variable("entityPolicy"), let arguments) = expression else {
            expressions.append(expression.overEvaluatedObject)
            return .value(expressions.count - 1)
        }
        let written = (mapping.entityMapping.attributeMappings.flatMap(\.transforms))
        guard let transform = mapping.policy?.functions[name] ?? written.first(where: { $0.name == name }) else {
            throw MigrationError(
                .codeMissing, "The policy \(mapping.policyName) has no function \(name).", place: expression.format,
                remedy: "Return it from the policy's functions.")
        }
        expressions += arguments.map(\.overEvaluatedObject)
        return .call(transform, Array((expressions.count - arguments.count)..<expressions.count))
    }
}

extension Expression {
    /// The expression with the evaluated object in place of the `$source` variable; nil for any other expression.
    fileprivate var ofEvaluatedObject: Expression? {
        switch self {
        case .variable("source"): .evaluatedObject
        case .keyPath(let path, .variable("source")): .keyPath(path)
        default: nil
        }
    }

    fileprivate var overEvaluatedObject: Expression { replacing(\.ofEvaluatedObject) }
}

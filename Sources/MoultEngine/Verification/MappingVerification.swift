import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// Verifies the results of a mapping's expressions, predicates and paths by evaluating them in memory over the old
/// store's objects, independently of the statements.
///
/// Of a large entity it checks some 2,000 objects, evenly spread, and calls closures again for some 100 of them.
struct MappingVerification {
    static let sampleSize: Int64 = 2_000
    static let closureSampleSize = 100

    private let plan: BoundPlan
    private let connection: Connection
    private let old: StoredObjects
    private let new: StoredObjects
    /// The places of the mappings of each source entity.
    private let placesBySource: [String: [Int]]
    /// The entities of the destination whose objects are made by policies.
    private let madeByPolicies: [EntityDescription]
    /// Whether links to objects that may have been left out are followed too.
    private let picksAny: Bool
    private let keepsKeys: Bool

    init(_ plan: BoundPlan, _ connection: Connection, externalData: @escaping (String) throws -> [UInt8]?) {
        self.plan = plan
        self.connection = connection
        old = StoredObjects(connection, schema: "source", layout: plan.source, externalData: externalData)
        new = StoredObjects(connection, schema: "main", layout: plan.destination, externalData: externalData)
        let mappings = plan.mapping.entityMappings
        placesBySource = Dictionary(grouping: mappings.indices) { mappings[$0].sourceEntityName ?? "" }
        madeByPolicies = mappings.filter { $0.policy != nil }.compactMap {
            $0.destinationEntityName.flatMap(plan.destination.model.entity)
        }
        picksAny = mappings.contains { $0.predicate != nil }
        keepsKeys = plan.keepsKeys
    }

    /// - Throws: `verificationFailed` for the first object that does not match its mapping.
    func verify() throws {
        for (position, mapping) in plan.mapping.entityMappings.enumerated() where needsEvaluation(mapping, position) {
            try verify(mapping, position)
        }
    }

    private func needsEvaluation(_ mapping: ResolvedEntityMapping, _ position: Int) -> Bool {
        guard mapping.policy == nil, mapping.sourceEntityName != nil, mapping.destinationEntityName != nil else {
            return false
        }
        if mapping.predicate != nil || !keepsKeys || picksAny { return true }
        return mapping.attributes.values.contains { if case .expression = $0 { true } else { false } }
            || mapping.relationships.values.contains { if case .path = $0 { true } else { false } }
    }

    private func verify(_ mapping: ResolvedEntityMapping, _ position: Int) throws {
        guard let from = mapping.sourceEntityName.flatMap(plan.source.model.entity),
            let table = plan.source.table(for: from)?.name, let number = plan.source.entityNumbers[from.name],
            let to = mapping.destinationEntityName
        else { return }
        let rows = "FROM source.\(table.quotedName) WHERE Z_ENT = \(number)"
        let count = try connection.integer("SELECT count(*) \(rows)") ?? 0
        let step = max(1, count / Self.sampleSize)
        let keys = try connection.rows("SELECT Z_PK \(rows) AND Z_PK % \(step) = 0") { $0.integer(0) }
        let closureStep = max(1, keys.count / Self.closureSampleSize)
        for (place, key) in keys.enumerated() {
            let object = old.object(from.name, key)
            let result = try new.find(key + plan.keyShifts[position], in: to)
            let made = result?.entityName == to ? result : nil
            guard try takes(mapping, object) else {
                if mapping.predicate != nil, made != nil, isAlone(mapping) {
                    throw failure(to, key, "it satisfies no condition but exists")
                }
                continue
            }
            guard let made else { throw failure(to, key, "the new store has no such object") }
            if let number = plan.destination.entityNumbers[to], try isChangedByPolicy(made.key, number) { continue }
            try verify(made, of: object, by: mapping)
            if place % closureStep == 0 { try verifyClosures(made, of: object, by: mapping) }
        }
    }

    /// Whether no other mapping makes objects in the same table, which might have the key.
    private func isAlone(_ mapping: ResolvedEntityMapping) -> Bool {
        let root = { (name: String?) in
            name.flatMap(plan.destination.model.entity).map { plan.destination.model.root(of: $0).name }
        }
        return plan.mapping.entityMappings.filter {
            $0.sourceEntityName != nil && root($0.destinationEntityName) == root(mapping.destinationEntityName)
        }.count == 1
    }

    private func takes(_ mapping: ResolvedEntityMapping, _ object: ObjectID) throws -> Bool {
        try mapping.predicate?.holds(for: .object(object), variables: ["source": .object(object)], in: old) ?? true
    }

    // MARK: - One object

    private func verify(_ made: ObjectID, of object: ObjectID, by mapping: ResolvedEntityMapping) throws {
        guard let entity = plan.destination.model.entity(made.entityName) else { return }
        let key = made.key
        for (name, value) in mapping.attributes.sorted(by: { $0.key < $1.key }) {
            guard case .expression(let expression) = value, expression.isRepeatable,
                let attribute = plan.destination.model.attribute(name, of: entity)
            else { continue }
            let expected = try self.value(expression, for: attribute, object)
            let found = try new.attribute(name, of: entity, key)
            guard ExpressionValue(expected).isSame(as: ExpressionValue(found), type: attribute.type) else {
                throw failure(
                    "\(entity.name).\(name)", key, "\(expression.format) gives a different value from the stored one")
            }
        }
        for relationship in plan.destination.model.relationships(of: entity)
        where !relationship.isTransient && !isByPolicy(relationship) {
            guard let source = mapping.relationships[relationship.name] else { continue }
            try verify(relationship, source, of: made, from: object)
        }
    }

    /// Verifies closures that return the same value for each call. Results that vary, such as a new UUID, cannot be
    /// verified; nor can closures that now throw.
    private func verifyClosures(_ made: ObjectID, of object: ObjectID, by mapping: ResolvedEntityMapping) throws {
        guard let entity = plan.destination.model.entity(made.entityName) else { return }
        for (name, value) in mapping.attributes.sorted(by: { $0.key < $1.key }) {
            guard case .expression(.message(let selector, .variable("entityPolicy"), let arguments)) = value,
                let attribute = plan.destination.model.attribute(name, of: entity),
                let closure = mapping.written?.attributeMapping(name)?.transforms.first(where: { $0.name == selector }),
                let given = try closureArguments(arguments, object),
                let first = try? closure.body(given), let second = try? closure.body(given), first == second
            else { continue }
            let expected = ExpressionValue(first.fitted(to: attribute.type))
            let found = try new.attribute(name, of: entity, made.key)
            guard !expected.isSame(as: ExpressionValue(found), type: attribute.type) else { continue }
            throw failure(
                "\(entity.name).\(name)", made.key,
                "the closure \(selector) gives a different value for the same arguments"
            )
        }
    }

    /// Returns nil if a value has another form here than in the original call: bytes, and decimals written with a power
    /// of ten.
    private func closureArguments(_ arguments: [Expression], _ object: ObjectID) throws -> [AttributeValue?]? {
        var values: [AttributeValue?] = []
        for argument in arguments where argument.isRepeatable {
            switch try argument.value(for: .object(object), variables: ["source": .object(object)], in: old) {
            case .null: values.append(nil)
            case .boolean(let flag): values.append(.boolean(flag))
            case .integer(let number): values.append(.integer(number))
            case .real(let number): values.append(.double(number))
            case .string(let text): values.append(.string(text))
            case .date(let seconds): values.append(.date(seconds))
            case .uri(let text): values.append(.uri(text))
            case .uuid(let bytes): values.append(.uuid(bytes))
            case .decimal(let digits):
                guard let size = Double(digits)?.magnitude, size == 0 || (0.001..<1e15).contains(size) else {
                    return nil
                }
                values.append(.decimal(digits))
            case .data, .object, .collection: return nil
            }
        }
        return values.count == arguments.count ? values : nil
    }

    /// Whether a policy makes objects that the relationship may lead to: the policy decides about links to them.
    private func isByPolicy(_ relationship: RelationshipDescription) -> Bool {
        let model = plan.destination.model
        guard let target = model.entity(relationship.destinationEntityName) else { return false }
        return madeByPolicies.contains { model.isKind($0, of: target) || model.isKind(target, of: $0) }
    }

    /// Whether a policy has changed the row, as policies record.
    private func isChangedByPolicy(_ key: Int64, _ number: Int) throws -> Bool {
        guard plan.mapping.entityMappings.contains(where: { $0.policy != nil }),
            try connection.hasTable("moult_policy_rows", in: "temp")
        else { return false }
        return try connection.integer(
            "SELECT EXISTS (SELECT 1 FROM temp.moult_policy_rows WHERE entity = ? AND key = ?)",
            [.integer(Int64(number)), .integer(key)]) == 1
    }

    private func value(
        _ expression: Expression, for attribute: AttributeDescription, _ object: ObjectID
    ) throws -> AttributeValue? {
        do {
            let value = try expression.value(for: .object(object), variables: ["source": .object(object)], in: old)
            guard !value.isNull else { return nil }
            guard let converted = value.converted(to: attribute.type) else { return attribute.defaultValue }
            // Only a decimal without an exact number is rounded.
            if case .decimal = value { return converted }
            return converted.storedExactly == nil ? attribute.defaultValue : converted
        } catch let error as MigrationError where error.code == .invalidPredicate {
            // The conversion has no result.
            return attribute.defaultValue
        }
    }

    private func verify(
        _ relationship: RelationshipDescription, _ source: RelationshipSource, of made: ObjectID, from object: ObjectID
    ) throws {
        let (path, taker): ([String], String?)
        switch source {
        case .relationship(let name): (path, taker) = ([name], nil)
        case .path(let keys, let name): (path, taker) = (keys, name)
        case .empty: return
        }
        let target = relationship.destinationEntityName
        let expression = path.isEmpty ? Expression.variable("source") : .source(path.joined(separator: "."))
        let reached = try expression.value(for: .object(object), variables: ["source": .object(object)], in: old)
        var expected: Set<ObjectID> = []
        for case .object(let end) in reached.elements { expected.formUnion(try becomes(end, target, by: taker)) }
        let found = Set(
            try new.value(relationship.name, of: made).elements.compactMap { value -> ObjectID? in
                if case .object(let id) = value { id } else { nil }
            })
        // The inverse may add links, and a to-one keeps one of many.
        let wasTakenOnce =
            if case .relationship(let name) = source, let entity = plan.source.model.entity(object.entityName) {
                plan.source.model.relationship(name, of: entity).map(plan.source.model.isTakenOnce) == true
            } else { false }
        let isLossy =
            !relationship.isToMany || plan.destination.model.inverse(of: relationship)?.isToMany == false
            || plan.destination.model.isTakenOnce(by: relationship) && !wasTakenOnce
        let mayBeEmpty = relationship.isToMany || isContended(relationship, source, from: object)
        let isRight =
            isLossy
            ? found.isSubset(of: expected) && (found.isEmpty == expected.isEmpty || mayBeEmpty)
            : expected.isSubset(of: found)
        guard isRight else {
            throw failure(
                "\(made.entityName).\(relationship.name)", made.key,
                "\(expression.format) leads to \(Quantity.count(expected.count, "object")), and it has \(Quantity.count(found.count))"
            )
        }
    }

    /// Whether several objects may compete for the same destination, whose to-one inverse keeps one of them.
    private func isContended(
        _ relationship: RelationshipDescription, _ source: RelationshipSource, from object: ObjectID
    ) -> Bool {
        guard let inverse = plan.destination.model.inverse(of: relationship), !inverse.isToMany else { return false }
        let several = placesBySource[object.entityName, default: []].count > 1
        guard !several, case .relationship(let name) = source,
            let old = plan.source.model.entity(object.entityName).flatMap({
                plan.source.model.relationship(name, of: $0)
            })
        else { return true }
        let fillers = plan.mapping.entityMappings.filter { mapping in
            mapping.relationships.contains { $0.key == relationship.name && $0.value != .empty }
        }
        return fillers.count > 1 || plan.source.model.inverse(of: old)?.isToMany != false
    }

    /// Returns the objects of the entity `target` or its sub-entities that the mappings make of an object, except by a
    /// policy.
    private func becomes(_ object: ObjectID, _ target: String, by taker: String?) throws -> [ObjectID] {
        guard let target = plan.destination.model.entity(target) else { return [] }
        return try placesBySource[object.entityName, default: []].compactMap { position in
            let mapping = plan.mapping.entityMappings[position]
            guard taker == nil || mapping.name == taker,
                let entity = mapping.destinationEntityName.flatMap(plan.destination.model.entity),
                plan.destination.model.isKind(entity, of: target), try takes(mapping, object)
            else { return nil }
            return new.object(entity.name, object.key + plan.keyShifts[position])
        }
    }

    private func failure(_ place: String, _ key: Int64, _ what: String) -> MigrationError {
        MigrationError(
            .verificationFailed, "The new store does not match its mapping: of \(place) \(key), \(what).",
            place: "\(place) \(key)", remedy: "The store is unchanged. Report this as a bug, with the plan.")
    }
}

extension Expression {
    /// Whether repeated evaluation gives the same value: it uses neither a closure nor the clock.
    fileprivate var isRepeatable: Bool {
        var isRepeatable = true
        _ = replacing { part in
            switch part {
            case .message(_, .variable("entityPolicy"), _), .function("now", _): isRepeatable = false
            default: break
            }
            return nil
        }
        return isRepeatable
    }
}

extension ExpressionValue {
    /// Whether both are equal as stored in a column of the type: the digits of a decimal pass through a floating-point
    /// number.
    fileprivate func isSame(as other: ExpressionValue, type: AttributeType) -> Bool {
        if isNull || other.isNull { return isNull == other.isNull }
        guard type == .decimal || type == .double || type == .float || type == .date else { return self == other }
        if type == .float, let one = number?.double, let two = other.number?.double { return Float(one) == Float(two) }
        return number == other.number
    }
}

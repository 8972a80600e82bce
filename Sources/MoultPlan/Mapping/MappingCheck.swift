import MoultBasics
import MoultModel

extension MappingModel {
    /// Checks a mapping against its two models. For each concrete entity and stored property of the destination without
    /// a source, a finding says how it starts, or why it cannot.
    ///
    /// Errors prevent the migration, warnings lose data, and notes say why something starts empty.
    package func findings(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [Finding] {
        var check = MappingCheck(mapping: self, source: source, destination: destination)
        check.run()
        return check.findings
    }
}

struct MappingCheck {
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var findings: [Finding] = []

    mutating func run() {
        var names: Set<String> = []
        for entityMapping in mapping.entityMappings {
            if !names.insert(entityMapping.name).inserted {
                report(
                    .error, "mapping-name-twice", entityMapping.name,
                    "Two entity mappings are named \(entityMapping.name).", "Rename one of them.")
            }
            check(entityMapping)
        }
        checkEntities()
    }

    mutating func report(
        _ severity: Finding.Severity, _ code: String, _ place: String, _ message: String, _ remedy: String = ""
    ) {
        findings.append(Finding(code: code, severity: severity, place: place, message: message, remedy: remedy))
    }

    // MARK: Entities

    private mutating func check(_ entityMapping: EntityMapping) {
        let old = entityMapping.sourceEntityName.flatMap(source.entity)
        let new = entityMapping.destinationEntityName.flatMap(destination.entity)
        let names = [
            (entityMapping.sourceEntityName, old, "source"), (entityMapping.destinationEntityName, new, "destination"),
        ]
        for (name, entity, side) in names {
            guard let name else { continue }
            if entity == nil {
                report(
                    .error, "mapping-unknown-entity", entityMapping.name,
                    "The \(side) model of the mapping \(entityMapping.name) has no entity \(name).",
                    "Correct the name, or give the version that the mapping was made for.")
            } else if entity?.isAbstract == true {
                report(
                    .error, "mapping-abstract-entity", entityMapping.name,
                    "\(name) is abstract in the \(side) model and has no objects of its own.",
                    "Map each of its sub-entities.")
            }
        }
        guard let new else { return }
        checkNames(entityMapping, new)
        // An added entity has no objects that could lack a value.
        guard let old else { return }
        checkAttributes(entityMapping, old, new)
        checkRelationships(entityMapping, old, new)
    }

    private mutating func checkEntities() {
        let takenFrom = Set(mapping.entityMappings.compactMap(\.sourceEntityName))
        let made = Set(mapping.entityMappings.compactMap(\.destinationEntityName))
        for entity in source.entities where !entity.isAbstract && !takenFrom.contains(entity.name) {
            report(
                .warning, "mapping-drops-entity", entity.name,
                "No mapping takes the objects of \(entity.name); they are dropped.",
                "Add an entity mapping for it, or one of type remove.")
        }
        for entity in destination.entities where !entity.isAbstract && !made.contains(entity.name) {
            report(
                .note, "mapping-empty-entity", entity.name,
                "No mapping makes objects of \(entity.name); it starts empty.")
        }
    }

    private mutating func checkNames(_ entityMapping: EntityMapping, _ new: EntityDescription) {
        let attributes = entityMapping.attributeMappings.filter { destination.attribute($0.name, of: new) == nil }
        let relationships = entityMapping.relationshipMappings.filter {
            destination.relationship($0.name, of: new) == nil
        }
        for (kind, property) in attributes.map({ ("attribute", $0) }) + relationships.map({ ("relationship", $0) }) {
            report(
                .error, "mapping-unknown-property", "\(entityMapping.name).\(property.name)",
                "\(new.name) has no \(kind) \(property.name).",
                "Correct the name, or give the version that the mapping was made for.")
        }
    }

    // MARK: Properties without a source

    private mutating func checkAttributes(
        _ entityMapping: EntityMapping, _ old: EntityDescription, _ new: EntityDescription
    ) {
        func isMapped(_ attribute: AttributeDescription) -> Bool {
            entityMapping.attributeMapping(attribute.name) != nil
        }
        let attributes = destination.attributes(of: new).flatMap { attribute in
            // The leaves of a composite attribute may have mappings of their own; the attribute's is for the others.
            guard attribute.leaves.contains(where: isMapped) else { return [attribute] }
            let others = entityMapping.attributeMapping(attribute.name)?.valueExpression
            return attribute.leaves.filter { others == nil || isMapped($0) }
        }
        for attribute in attributes where attribute.isStored && attribute.derivation == nil {
            let place = "\(entityMapping.name).\(attribute.name)"
            if let expression = entityMapping.attributeMapping(attribute.name)?.valueExpression {
                check(
                    expression, for: attribute, of: old, place: place,
                    hasPolicy: entityMapping.entityMigrationPolicyClassName != nil)
            } else if let value = attribute.defaultValue {
                report(.note, "mapping-default", place, "\(new.name).\(attribute.name) starts as \(value.text).")
            } else if attribute.isOptional {
                report(.note, "mapping-default", place, "\(new.name).\(attribute.name) starts without a value.")
            } else {
                reportMissing(attribute.name, of: new, entityMapping)
            }
        }
    }

    private mutating func checkRelationships(
        _ entityMapping: EntityMapping, _ old: EntityDescription, _ new: EntityDescription
    ) {
        for relationship in destination.relationships(of: new) where !relationship.isTransient {
            let place = "\(entityMapping.name).\(relationship.name)"
            if let expression = entityMapping.relationshipMapping(relationship.name)?.valueExpression {
                checkPaths(in: expression, of: old, place: place)
            } else if isFilledByInverse(relationship) {
                report(.note, "mapping-inverse", place, "\(new.name).\(relationship.name) is filled by its inverse.")
            } else if relationship.mayBeEmpty {
                report(.note, "mapping-default", place, "\(new.name).\(relationship.name) starts empty.")
            } else {
                reportMissing(relationship.name, of: new, entityMapping)
            }
        }
    }

    private func isFilledByInverse(_ relationship: RelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseName,
            let target = destination.entity(relationship.destinationEntityName)
        else { return false }
        return mapping.entityMappings.contains { other in
            guard let entity = other.destinationEntityName.flatMap(destination.entity),
                destination.isKind(entity, of: target)
            else { return false }
            return other.relationshipMapping(inverse)?.valueExpression != nil
        }
    }

    private mutating func reportMissing(_ property: String, of new: EntityDescription, _ entityMapping: EntityMapping) {
        let place = "\(entityMapping.name).\(property)"
        if let policy = entityMapping.entityMigrationPolicyClassName {
            report(
                .note, "mapping-by-policy", place,
                "\(new.name).\(property) is required and has no expression: \(policy) has to set it.")
        } else {
            report(
                .error, "mapping-without-value", place,
                "\(new.name).\(property) is required, and the mapping gives it no value.",
                "Give it a value expression, a default value, or make it optional.")
        }
    }

    /// Checks the value expression of an attribute.
    mutating func check(
        _ expression: Expression, for attribute: AttributeDescription, of old: EntityDescription, place: String,
        hasPolicy: Bool
    ) {
        checkPaths(in: expression, of: old, place: place)
        if hasPolicy { checkCalls(in: expression, place: place) }
        guard case .keyPath(let path, .variable("source")) = expression,
            let from = self.attribute(at: path, of: old)?.plain
        else { return }
        let attribute = attribute.plain
        let types = "\(attribute.name) is of type \(attribute.type.name) and its source \(path) is \(from.type.name)"
        if !from.type.converts(to: attribute.type) {
            report(
                hasPolicy ? .warning : .error, "mapping-type", place, "\(types).",
                "Convert the value in a closure or a migration policy.")
        } else if !from.type.isTaken(by: attribute.type) {
            report(
                .note, "mapping-converts", place,
                "\(types): values that have no equal are counted before anything is changed.")
        }
        if from.isOptional, !attribute.isOptional {
            report(
                .warning, "mapping-may-be-nil", place,
                "\(attribute.name) is required, and its source \(path) may have no value.",
                "The rows are checked before anything is changed; a policy can give a value where there is none.")
        }
    }

    /// Reports calls of policy functions inside an expression. If a policy makes the objects, its functions get values
    /// that SQL has read, and their results cannot be used in an expression.
    private mutating func checkCalls(in expression: Expression, place: String) {
        var inner = [expression]
        if case .message(_, .variable("entityPolicy"), let arguments) = expression { inner = arguments }
        for part in inner {
            for name in part.policyCalls {
                report(
                    .error, "mapping-nested-call", place,
                    "\(name) is called inside \(expression.format), which an entity mapping with a policy cannot do.",
                    "Call it alone and do the rest in the function, or set the attribute in the policy.")
            }
        }
    }

    private func attribute(at path: String, of old: EntityDescription) -> AttributeDescription? {
        var entity = old
        var keys = path.split(separator: ".").map(String.init)
        guard let last = keys.popLast() else { return nil }
        for key in keys {
            guard let next = source.relationship(key, of: entity).flatMap({ source.entity($0.destinationEntityName) })
            else { return nil }
            entity = next
        }
        return source.attribute(last, of: entity)
    }

    /// Checks that every key path from `$source` and every named mapping exists.
    mutating func checkPaths(in expression: Expression, of old: EntityDescription, place: String) {
        switch expression {
        case .keyPath(let path, .variable("source")): check(path, of: old, place: place)
        case .keyPath(_, let base): checkPaths(in: base, of: old, place: place)
        case .message(let selector, let target, let arguments):
            if target == .variable("manager") { checkManager(selector, expression, place: place) }
            for part in [target] + arguments { checkPaths(in: part, of: old, place: place) }
        case .function(_, let arguments), .aggregate(let arguments):
            for part in arguments { checkPaths(in: part, of: old, place: place) }
        case .subquery(let collection, _, _): checkPaths(in: collection, of: old, place: place)
        case .conditional(_, let first, let second):
            for part in [first, second] { checkPaths(in: part, of: old, place: place) }
        case .constant, .evaluatedObject, .variable: break
        }
    }

    private mutating func checkManager(_ selector: String, _ expression: Expression, place: String) {
        guard let call = expression.destinationInstances else {
            report(
                .error, "mapping-unknown-selector", place,
                "The migration manager has no method \(selector) for expressions.",
                "Use destinationInstancesForEntityMappingNamed:sourceInstances:, or a migration policy.")
            return
        }
        switch call.kind {
        case .ofEntityMapping where mapping[call.name] == nil:
            report(
                .error, "mapping-unknown-mapping", place, "There is no entity mapping named \(call.name).",
                "Correct the name of the mapping.")
        case .ofEntityMapping, .ofSourceRelationship: break
        }
    }

    private mutating func check(_ path: String, of old: EntityDescription, place: String) {
        var entity: EntityDescription? = old
        for key in path.split(separator: ".").map(String.init) where !key.hasPrefix("@") {
            guard let current = entity else { return }
            if let relationship = source.relationship(key, of: current) {
                entity = source.entity(relationship.destinationEntityName)
            } else if source.attribute(key, of: current) != nil {
                entity = nil
            } else {
                report(
                    .error, "mapping-unknown-source", place, "\(current.name) of the source has no property \(key).",
                    "Correct the key path \(path).")
                return
            }
        }
    }
}

extension AttributeType {
    /// Whether an attribute of the other type takes every value of this one unchanged. Core Data accepts any number for
    /// another, and truncates those that do not fit.
    fileprivate func isTaken(by other: AttributeType) -> Bool { self == other || widens(to: other) }
}

extension Expression {
    /// The names of all policy functions that the expression calls, at any depth.
    fileprivate var policyCalls: [String] {
        var names: [String] = []
        _ = replacing { part in
            if case .message(let name, .variable("entityPolicy"), _) = part { names.append(name) }
            return nil
        }
        return names
    }
}

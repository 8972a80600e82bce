import MoultBasics
import MoultModel
import MoultStore

/// A check that rules fit a model: every name exists, and every fix suits its rule.
package struct RuleModelCheck {
    private let model: ManagedObjectModel
    private var faults = RuleFaults()
    private var place = ""

    package init(_ model: ManagedObjectModel) { self.model = model }

    /// - Parameter place: the origin of the rules.
    /// - Throws: `usage` with everything that does not fit.
    package mutating func check(_ rules: [ValidationRule], place: String = "the rules") throws {
        var names: Set<String> = []
        for rule in rules {
            self.place = rule.name
            if rule.name.isEmpty { report("A rule needs a name.") }
            if !names.insert(rule.name).inserted { report("Two rules have this name.") }
            guard let entity = model.entity(rule.entityName) else {
                report("The model has no entity \(rule.entityName).")
                continue
            }
            check(rule.kind, of: entity)
            if let fix = rule.fix { check(fix, of: rule, entity) }
        }
        try faults.check(place: place)
    }

    private mutating func report(_ sentence: String) { faults.add(place, sentence) }

    // MARK: - Kinds

    private mutating func check(_ kind: ValidationRule.Kind, of entity: EntityDescription) {
        switch kind {
        case .predicate(let predicate): check(predicate, of: entity)
        case .orphan(let name): _ = relationship(name, of: entity)
        case .minimumCount(let count): if count < 0 { report("A minimum cannot be negative.") }
        case .minimumOfSource(let minimum):
            if !(0...1).contains(minimum.share) { report("A share of the source is a number from 0 to 1.") }
            if minimum.fewer < 0 { report("The number that may be missing cannot be negative.") }
        case .count(let name, let expression):
            if let attribute = attribute(name, of: entity), !attribute.type.isNumber {
                report("\(entity.name).\(name) is of type \(attribute.type.name) and cannot hold a count.")
            }
            check(expression, of: entity)
        case .noCycle(let name):
            guard let relationship = toOne(name, of: entity),
                let destination = model.entity(relationship.destinationEntityName)
            else { return }
            if model.root(of: destination).name != model.root(of: entity).name {
                report("\(entity.name).\(name) leads to \(destination.name), where the path does not continue.")
            }
        case .unique(let names):
            if names.isEmpty { report("A unique key needs a property.") }
            for name in names where attributeOrNil(name, of: entity) == nil { _ = toOne(name, of: entity) }
        case .code: break
        }
    }

    // MARK: - Fixes

    private mutating func check(_ fix: ValidationRule.Fix, of rule: ValidationRule, _ entity: EntityDescription) {
        switch rule.kind {
        case .minimumCount, .minimumOfSource:
            report("Missing objects have no fix.")
            return
        default: break
        }
        switch fix {
        case .set(let values):
            if values.isEmpty { report("The fix sets nothing.") }
            for (name, expression) in values.inByteOrder(of: { $0.key }) {
                checkSettable(name, of: entity)
                check(expression, of: entity)
            }
        case .nullify(let name):
            guard let relationship = toOne(name, of: entity) else { return }
            if !relationship.isOptional { report("\(entity.name).\(name) is required and cannot be cleared.") }
        case .assign(let name, let object):
            guard let relationship = toOne(name, of: entity),
                let destination = model.entity(relationship.destinationEntityName)
            else { return }
            checkSettable(name, of: entity)
            check(object.predicate, of: destination)
            for (name, expression) in (object.values ?? [:]).sorted(by: { $0.key < $1.key }) {
                checkSettable(name, of: destination)
                if !expression.keyPaths.isEmpty { report("The value of a new object's \(name) must be a constant.") }
            }
            if object.values != nil, destination.isAbstract {
                report("\(destination.name) is abstract, so no default object can be made.")
            }
        case .recount:
            if case .count = rule.kind { return }
            report("Only a rule about a count can be recounted.")
        case .delete, .quarantine: break
        }
    }

    private mutating func checkSettable(_ name: String, of entity: EntityDescription) {
        if let attribute = attributeOrNil(name, of: entity) {
            if attribute.derivation != nil || !attribute.isStored {
                report("\(entity.name).\(name) is derived or transient and cannot be set.")
            }
        } else if let relationship = toOne(name, of: entity), let inverse = model.inverse(of: relationship),
            !inverse.isToMany
        {
            report("\(entity.name).\(name) is one-to-one: setting it would take the object from another.")
        }
    }

    // MARK: - Names

    private func attributeOrNil(_ name: String, of entity: EntityDescription) -> AttributeDescription? {
        if let attribute = model.attribute(name, of: entity) { return attribute }
        return model.storedAttributes(of: entity).first { $0.name == name }?.description
    }

    private mutating func attribute(_ name: String, of entity: EntityDescription) -> AttributeDescription? {
        if let attribute = attributeOrNil(name, of: entity) { return attribute }
        report("\(entity.name) has no attribute \(name).")
        return nil
    }

    private mutating func relationship(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
        guard let relationship = model.relationship(name, of: entity) else {
            report("\(entity.name) has no relationship \(name).")
            return nil
        }
        if relationship.isTransient { report("\(entity.name).\(name) is transient: the store does not keep it.") }
        return relationship
    }

    private mutating func toOne(_ name: String, of entity: EntityDescription) -> RelationshipDescription? {
        guard let relationship = relationship(name, of: entity) else { return nil }
        if !relationship.isToMany { return relationship }
        report("\(entity.name).\(name) is to-many.")
        return nil
    }

    // MARK: - Expressions

    private mutating func check(_ predicate: Predicate, of entity: EntityDescription) {
        check(paths: predicate.keyPaths, variables: predicate.variables, predicate.format, of: entity)
    }

    private mutating func check(_ expression: Expression, of entity: EntityDescription) {
        check(paths: expression.keyPaths, variables: expression.variables, expression.format, of: entity)
    }

    private mutating func check(
        paths: Set<String>, variables: Set<String>, _ format: String, of entity: EntityDescription
    ) {
        for name in variables.inByteOrder() {
            report("$\(name) has no value in \(format).")
        }
        for path in paths.inByteOrder() {
            if let fault = fault(in: path, of: entity) { report("\(fault) in \(format).") }
        }
    }

    /// Returns the error in a key path; nil for a valid one.
    private func fault(in path: String, of entity: EntityDescription) -> String? {
        var current: EntityDescription? = entity
        var keys = path.split(separator: ".").map(String.init)[...]
        while let key = keys.popFirst() {
            // A collection operator may come between two parts of a path.
            if key.hasPrefix("@") || ["objectID", "entity", "self", "SELF"].contains(key) { continue }
            guard let here = current else { return nil }
            if let relationship = model.relationship(key, of: here) {
                current = model.entity(relationship.destinationEntityName)
            } else if model.attribute(key, of: here) != nil {
                current = nil
            } else {
                return "\(here.name) has no property \(key)"
            }
        }
        return nil
    }
}

extension AttributeType {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .decimal: true
        default: false
        }
    }
}

/// All the errors in a set of rules, reported together before any row is read.
package struct RuleFaults {
    package private(set) var sentences: [String] = []

    package init() {}

    /// - Parameter place: the name of the rule, or its location in a file.
    package mutating func add(_ place: String, _ sentence: String) { sentences.append("\(place): \(sentence)") }

    /// - Throws: `usage` with all errors, if there are any.
    package func check(place: String) throws {
        guard !sentences.isEmpty else { return }
        let intro = sentences.count == 1 ? "The rules have an error:" : "The rules have \(sentences.count) errors:"
        throw MigrationError(
            .usage, ([intro] + sentences).joined(separator: "\n"), place: place,
            remedy: "Correct them; nothing was read or changed.")
    }
}

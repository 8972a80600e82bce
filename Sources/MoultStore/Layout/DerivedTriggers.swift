import MoultBasics
import MoultModel
import MoultSQLite

/// The triggers that keep derived attributes up to date. The known derivations are a count over a to-many relationship,
/// a value through a to-one relationship, and the time of the last change. Any other derivation gets a finding instead
/// of triggers.
struct DerivedTriggers {
    private(set) var triggers: [TriggerDefinition] = []
    private(set) var findings: [Finding] = []

    init(of layout: StoreLayout, numbering: EntityNumbering) {
        for entity in numbering.entities {
            for attribute in entity.attributes where attribute.isStored {
                guard let derivation = attribute.derivation else { continue }
                add(derivation, of: attribute, in: entity, layout)
            }
        }
    }

    private mutating func add(
        _ derivation: AttributeDescription.Derivation, of attribute: AttributeDescription,
        in entity: EntityDescription, _ layout: StoreLayout
    ) {
        guard let derived = DerivedColumn(attribute, in: entity, layout) else { return }
        guard derivation.filter == nil, let shape = DerivationShape(derivation.expression),
            let made = derived.triggers(for: shape)
        else {
            findings.append(
                Finding(
                    code: "derived-not-kept", severity: .warning, place: "\(entity.name).\(attribute.name)",
                    message:
                        "How Core Data keeps \(derivation.expression) up to date in a store is not publicly known; "
                        + "no trigger is made for it.",
                    remedy: "Core Data computes the value when an object is next saved; check it until then."))
            return
        }
        triggers += made
    }
}

/// A trigger of a store that keeps a derived attribute or an R-tree index up to date.
package struct TriggerDefinition: Sendable, Hashable {
    package let name: String
    package let table: String
    /// The `CREATE TRIGGER` statement.
    package let sql: String

    package init(name: String, table: String, sql: String) { (self.name, self.table, self.sql) = (name, table, sql) }
}

/// The derivations whose triggers are known.
package enum DerivationShape: Hashable, Sendable {
    /// `rel.@count`
    case count(relationship: String)
    /// `rel.attribute`
    case value(relationship: String, attribute: String)
    /// `now()`
    case now

    /// Parses an expression as written in a model file or as printed by Core Data; nil for any other derivation.
    package init?(_ expression: String) {
        switch try? Expression(parsing: expression) {
        case .function("now", let arguments) where arguments.isEmpty:
            self = .now
        case .function("count:", let arguments):
            guard arguments.count == 1, case .keyPath(let name, of: .evaluatedObject)? = arguments.first,
                !name.contains(".")
            else { return nil }
            self = .count(relationship: name)
        case .keyPath(let path, of: .evaluatedObject):
            let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let first = parts.first, let last = parts.last else { return nil }
            if last == "@count" {
                self = .count(relationship: first)
            } else if !last.hasPrefix("@") {
                self = .value(relationship: first, attribute: last)
            } else {
                return nil
            }
        default:
            return nil
        }
    }
}

extension String {
    /// The key path with a collection operator before the last property, as `lines.@sum.amount`, in place of one at its
    /// end, as derivations are also written.
    package var withOperatorFirst: String {
        var parts = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, let last = parts.last, last.hasPrefix("@"), last != "@count",
            !contains("("), !contains(" ")
        else { return self }
        parts.removeLast()
        parts.insert(last, at: parts.count - 1)
        return parts.joined(separator: ".")
    }
}

/// A derived attribute's column, which generates the SQL of its triggers.
struct DerivedColumn {
    private let layout: StoreLayout
    private let entity: EntityDescription
    private let attribute: String
    private let table: String
    private let column: String

    init?(_ attribute: AttributeDescription, in entity: EntityDescription, _ layout: StoreLayout) {
        guard let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: attribute.name, in: entity)
        else { return nil }
        self.layout = layout
        self.entity = entity
        self.attribute = attribute.name
        self.table = table
        self.column = column.sqlName
    }

    /// Returns nil if the derivation refers to nothing that is stored.
    func triggers(for shape: DerivationShape) -> [TriggerDefinition]? {
        switch shape {
        case .now: [now]
        case .count(let relationship): count(of: relationship)
        case .value(let relationship, let attribute): value(of: attribute, through: relationship)
        }
    }

    // MARK: - SQL

    private func trigger(on source: String, _ suffix: String, _ event: String, _ condition: String, _ body: String)
        -> TriggerDefinition
    {
        let prefix = suffix == "UPDATE" ? table : source
        let name = "Z_DA_\(prefix)_\(entity.name)_\(attribute)_\(suffix)"
        let when = condition.isEmpty ? "" : "WHEN \(condition) "
        return TriggerDefinition(
            name: name, table: source,
            sql:
                "CREATE TRIGGER \(name.sqlName) AFTER \(event) ON \(source.sqlName) FOR EACH ROW \(when)BEGIN \(body) END"
        )
    }

    /// Returns statements that set the column and notify Core Data of the changed objects.
    private func update(_ value: String, where condition: String, inserting: Bool = false) -> String {
        let function =
            inserting
            ? "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue" : "NSCoreDataDATriggerUpdatedAffectedObjectValue"
        let arguments = "\(table.quotedLiteral), Z_ENT, Z_PK, \(attribute.quotedLiteral), \(column)"
        return "UPDATE \(table.sqlName) SET \(column) = \(value) WHERE \(condition); "
            + "SELECT \(function)(\(arguments)) FROM \(table.sqlName) WHERE \(condition);"
    }

    private var now: TriggerDefinition {
        trigger(on: table, "UPDATE", "UPDATE OF Z_OPT", "", update("NSCoreDataNow()", where: "Z_PK = NEW.Z_PK"))
    }

    // MARK: - A count over a to-many

    private func count(of relationship: String) -> [TriggerDefinition]? {
        let source: String
        let key: String
        switch layout.storage(ofRelationship: relationship, in: entity) {
        case .inverseForeignKey(let table, let column, _, _), .inverseless(let table, let column, _):
            (source, key) = (table, column.sqlName)
        case .joinTable(let table, let ownColumn, _, _, _, _):
            (source, key) = (table, ownColumn.sqlName)
        case .foreignKey, nil:
            return nil
        }
        let counted = "SELECT IFNULL(COUNT(\(key)), 0) FROM \(source.sqlName) WHERE \(key) = NEW.Z_PK"
        let ownRange = range.map { "\($0.0) <= NEW.Z_ENT AND NEW.Z_ENT <= \($0.1)" } ?? ""
        return [
            change(source, key, "PARAMETER_INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            change(source, key, "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
            change(source, key, "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
            change(source, key, "PARAMETER_DELETE", "DELETE", "OLD", "\(column) - 1"),
            trigger(
                on: table, "SOURCE_INSERT", "INSERT", ownRange,
                update("(\(counted))", where: "Z_PK = NEW.Z_PK", inserting: true)),
        ]
    }

    private func change(
        _ source: String, _ key: String, _ suffix: String, _ event: String, _ row: String, _ value: String
    ) -> TriggerDefinition {
        let test = range.map { " AND \($0.0) <= Z_ENT AND Z_ENT <= \($0.1)" } ?? ""
        return trigger(
            on: source, suffix, event, "(\(row).\(key) NOT NULL)", update(value, where: "Z_PK = \(row).\(key)\(test)"))
    }

    /// The lowest and highest number of the entity and its descendants, if the framework tests them.
    private var range: (Int, Int)? {
        guard layout.level.testsEntityRangeInCountTriggers else { return nil }
        let numbers = layout.numbers(ofEntityAndDescendants: entity)
        guard numbers.count > 1, let first = numbers.first, let last = numbers.last else { return nil }
        return (first, last)
    }

    // MARK: - A value through a to-one

    private func value(of attribute: String, through relationship: String) -> [TriggerDefinition]? {
        guard case .foreignKey(_, let key, _)? = layout.storage(ofRelationship: relationship, in: entity),
            let destinationName = layout.model.relationship(relationship, of: entity)?.destinationEntityName,
            let destination = layout.model.entity(destinationName),
            let source = layout.table(for: destination)?.name,
            let value = layout.column(forAttribute: attribute, in: destination)?.sqlName
        else { return nil }
        let foreign = key.sqlName
        let found = "(SELECT \(value) FROM \(source.sqlName) WHERE Z_PK = NEW.\(foreign))"
        let own = "Z_PK = NEW.Z_PK"
        let theirs = "\(foreign) = NEW.Z_PK"
        return [
            trigger(on: table, "SOURCE_INSERT", "INSERT", "", update(found, where: own, inserting: true)),
            trigger(on: table, "SOURCE_UPDATE", "UPDATE OF \(foreign)", "", update(found, where: own)),
            trigger(
                on: source, "PARAMETER_INSERT", "INSERT", "", update("NEW.\(value)", where: theirs, inserting: true)),
            trigger(on: source, "PARAMETER_UPDATE", "UPDATE OF \(value)", "", update("NEW.\(value)", where: theirs)),
        ]
    }
}

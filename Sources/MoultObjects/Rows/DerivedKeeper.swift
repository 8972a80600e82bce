import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// The temporary triggers that maintain derived attributes for which the store has no triggers. They belong to the
/// connection and leave no trace in the store.
///
/// The SQL of Core Data's own triggers for these attributes is not publicly known; the values that they compute are.
package struct DerivedKeeper {
    private(set) var triggers: [String] = []
    /// The unknown derivations, whose stored values do not change.
    private(set) var findings: [Finding] = []
    private let layout: StoreLayout
    private let kept: Set<String>

    init(_ layout: StoreLayout) {
        self.layout = layout
        kept = Set(layout.triggers.map(\.name))
        for entity in layout.model.entities where layout.entityNumbers[entity.name] != nil {
            for attribute in entity.attributes where attribute.isStored {
                guard let derivation = attribute.derivation, !isKept(attribute, of: entity) else { continue }
                add(derivation, of: attribute, in: entity)
            }
        }
    }

    /// The functions that the triggers of `canonical:`, `lowercase:` and `uppercase:` call.
    package static let functions = DerivedShape.Text.allCases.map { function in
        SQLiteFunction("moult_\(function)", argumentCount: 1, isCallableFromSchema: true) { values in
            values.text(0).map { .text(function.value(of: $0)) } ?? .null
        }
    }

    /// Whether the store has triggers for the attribute. Core Data's own triggers then maintain it, whatever its
    /// derivation.
    private func isKept(_ attribute: AttributeDescription, of entity: EntityDescription) -> Bool {
        kept.contains { $0.hasPrefix("Z_DA_") && $0.contains("_\(entity.name)_\(attribute.name)_") }
    }

    private mutating func add(
        _ derivation: AttributeDescription.Derivation, of attribute: AttributeDescription, in entity: EntityDescription
    ) {
        guard derivation.filter == nil, let shape = DerivedShape(derivation.expression),
            let column = DerivedTarget(attribute, in: entity, layout), let made = column.triggers(for: shape)
        else {
            findings.append(
                Finding(
                    code: "derived-not-kept", severity: .warning, place: "\(entity.name).\(attribute.name)",
                    message: "How to compute \(derivation.expression) is not known; "
                        + "the stored value does not change when objects change.",
                    remedy: "Core Data computes the value when it next saves the object."))
            return
        }
        triggers += made
    }
}

/// A derivation that can be computed.
package enum DerivedShape: Hashable {
    /// `name`, `canonical:(name)`
    case own(attribute: String, Text? = nil)
    /// `author.name`, `canonical:(author.name)`
    case value(relationship: String, attribute: String, Text? = nil)
    /// `pages.@count`
    case count(relationship: String)
    /// `pages.@sum.length`, `pages.length.@sum`
    case sum(relationship: String, attribute: String)
    case now

    /// A function of a text, by its selector.
    package enum Text: String, Hashable, Sendable, CaseIterable {
        case canonical = "canonical:"
        case lowercase = "lowercase:"
        case uppercase = "uppercase:"

        func value(of text: String) -> String {
            switch self {
            case .canonical: text.canonical
            case .lowercase: text.lowercased()
            case .uppercase: text.uppercased()
            }
        }
    }

    package init?(_ text: String) {
        if let known = DerivationShape(text) {
            switch known {
            case .count(let relationship): self = .count(relationship: relationship)
            case .value(let relationship, let attribute):
                self = .value(relationship: relationship, attribute: attribute)
            case .now: self = .now
            }
            return
        }
        switch try? Expression(parsing: text.withOperatorFirst) {
        case .keyPath(let path, of: .evaluatedObject):
            self.init(path: path.split(separator: ".").map(String.init), nil)
        case .function("sum:", let arguments):
            guard arguments.count == 1, case .keyPath(let path, of: .evaluatedObject)? = arguments.first else {
                return nil
            }
            let parts = path.split(separator: ".").map(String.init)
            guard parts.count == 2 else { return nil }
            self = .sum(relationship: parts[0], attribute: parts[1])
        case .function(let selector, let arguments):
            guard arguments.count == 1, case .keyPath(let path, of: .evaluatedObject)? = arguments.first,
                let function = Text(rawValue: selector)
            else { return nil }
            self.init(path: path.split(separator: ".").map(String.init), function)
        default:
            return nil
        }
    }

    /// Whether the value is computed from stored values, rather than copied or counted.
    package var isComputed: Bool {
        switch self {
        case .own(_, let function), .value(_, _, let function): function != nil
        case .sum: true
        case .count, .now: false
        }
    }

    private init?(path: [String], _ function: Text?) {
        switch (path.count, path.dropFirst().first) {
        case (1, _) where !path[0].hasPrefix("@"):
            self = .own(attribute: path[0], function)
        case (2, let second?) where !second.hasPrefix("@"):
            self = .value(relationship: path[0], attribute: second, function)
        case (3, "@sum") where function == nil && !path[2].hasPrefix("@"):
            self = .sum(relationship: path[0], attribute: path[2])
        default:
            return nil
        }
    }
}

/// A derived attribute's column, with the temporary triggers that maintain it.
package struct DerivedTarget {
    private let layout: StoreLayout
    private let entity: EntityDescription
    private let attribute: String
    private let table: String
    private let column: String
    /// The numbers of the entities that have the attribute.
    private let numbers: String

    package init?(_ attribute: AttributeDescription, in entity: EntityDescription, _ layout: StoreLayout) {
        guard let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: attribute.name, in: entity)
        else { return nil }
        self.layout = layout
        self.entity = entity
        self.attribute = attribute.name
        self.table = table
        self.column = column.quotedName
        numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
    }

    /// Returns a statement that recomputes the column in all rows; nil for `now()`, and if the derivation uses nothing
    /// stored.
    package func statement(for shape: DerivedShape) -> String? {
        events(for: shape)?.first { $0.what == "INSERT" && $0.table == table }.map { event in
            "UPDATE \(table.quotedName) SET \(column) = \(event.value) WHERE Z_ENT IN (\(numbers))"
        }
    }

    /// A change to rows of a table, with the column's new value and the rows of its own table that get it.
    private struct Event {
        let what: String
        let table: String
        /// An SQL expression over a row of the column's own table, whose columns are bare or prefixed with the table's
        /// name.
        let value: String
        let condition: String

        init(_ what: String, _ table: String, _ value: String, where condition: String) {
            (self.what, self.table, self.value, self.condition) = (what, table, value, condition)
        }
    }

    /// Returns the triggers; nil if the derivation uses nothing that is stored.
    func triggers(for shape: DerivedShape) -> [String]? {
        events(for: shape)?.enumerated().map { trigger($1, number: $0) }
    }

    private func trigger(_ event: Event, number: Int) -> String {
        let name = "Z_DA_TEMP_\(entity.name)_\(attribute)_\(number)".quotedName
        let rows = "\(event.condition) AND Z_ENT IN (\(numbers))"
        let arguments = "\(table.quotedLiteral), Z_ENT, Z_PK, \(attribute.quotedLiteral), \(column)"
        return
            "CREATE TEMP TRIGGER IF NOT EXISTS \(name) AFTER \(event.what) ON main.\(event.table.quotedName) FOR EACH ROW BEGIN "
            + "UPDATE \(table.quotedName) SET \(column) = \(event.value) WHERE \(rows); "
            + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue(\(arguments)) FROM \(table.quotedName) "
            + "WHERE \(rows); END"
    }

    private func events(for shape: DerivedShape) -> [Event]? {
        switch shape {
        case .now:
            return [Event("UPDATE OF Z_OPT", table, "NSCoreDataNow()", where: "Z_PK = NEW.Z_PK")]
        case .own(let name, let function):
            guard let source = layout.column(forAttribute: name, in: entity)?.quotedName else { return nil }
            let value = call(function, source)
            return [
                Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
                Event("UPDATE OF \(source)", table, value, where: "Z_PK = NEW.Z_PK"),
            ]
        case .value(let relationship, let name, let function):
            return self.value(of: name, through: relationship, function)
        case .count(let relationship):
            return aggregate("count(*)", of: nil, over: relationship)
        case .sum(let relationship, let name):
            return aggregate("ifnull(sum(d.%), 0)", of: name, over: relationship)
        }
    }

    private func call(_ function: DerivedShape.Text?, _ value: String) -> String {
        function.map { "moult_\($0)(\(value))" } ?? value
    }

    private func destination(of relationship: String) -> (entity: EntityDescription, table: String)? {
        guard let name = layout.model.relationship(relationship, of: entity)?.destinationEntityName,
            let there = layout.model.entity(name), let table = layout.table(for: there)?.name
        else { return nil }
        return (there, table)
    }

    private func value(of name: String, through relationship: String, _ function: DerivedShape.Text?) -> [Event]? {
        guard case .foreignKey(_, let key, _)? = layout.storage(ofRelationship: relationship, in: entity),
            let (there, source) = destination(of: relationship),
            let found = layout.column(forAttribute: name, in: there)?.quotedName
        else { return nil }
        let foreign = key.quotedName
        let value =
            "(SELECT \(call(function, "d.\(found)")) FROM \(source.quotedName) AS d "
            + "WHERE d.Z_PK = \(table.quotedName).\(foreign))"
        return [
            Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
            Event("UPDATE OF \(foreign)", table, value, where: "Z_PK = NEW.Z_PK"),
            Event("INSERT", source, value, where: "\(foreign) = NEW.Z_PK"),
            Event("UPDATE OF \(found)", source, value, where: "\(foreign) = NEW.Z_PK"),
        ]
    }

    /// - Parameter function: an SQL function over the destinations `d`, with % for the column.
    private func aggregate(_ function: String, of name: String?, over relationship: String) -> [Event]? {
        guard let storage = layout.storage(ofRelationship: relationship, in: entity),
            let (there, source) = destination(of: relationship)
        else { return nil }
        let found = name.flatMap { layout.column(forAttribute: $0, in: there)?.quotedName }
        guard name == nil || found != nil else { return nil }
        let computed = function.replacing("%", with: found ?? "")
        let own = "\(table.quotedName).Z_PK"
        switch storage {
        case .inverseForeignKey(_, let column, _, _), .inverseless(_, let column, _):
            let key = column.quotedName
            let value = "(SELECT \(computed) FROM \(source.quotedName) AS d WHERE d.\(key) = \(own))"
            let watched = [key] + [found].compactMap { $0 }
            return [
                Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
                Event("INSERT", source, value, where: "Z_PK = NEW.\(key)"),
                Event("DELETE", source, value, where: "Z_PK = OLD.\(key)"),
                Event(
                    "UPDATE OF \(watched.joined(separator: ", "))", source, value,
                    where: "Z_PK IN (NEW.\(key), OLD.\(key))"),
            ]
        case .joinTable(let join, let ownColumn, let otherColumn, _, _, _):
            let (owner, other) = (ownColumn.quotedName, otherColumn.quotedName)
            let value =
                "(SELECT \(computed) FROM \(join.quotedName) AS j JOIN \(source.quotedName) AS d "
                + "ON d.Z_PK = j.\(other) WHERE j.\(owner) = \(own))"
            let changed = found.map {
                Event(
                    "UPDATE OF \($0)", source, value,
                    where: "Z_PK IN (SELECT \(owner) FROM \(join.quotedName) WHERE \(other) = NEW.Z_PK)")
            }
            return [
                Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
                Event("INSERT", join, value, where: "Z_PK = NEW.\(owner)"),
                Event("DELETE", join, value, where: "Z_PK = OLD.\(owner)"),
                // A migration leads pairs to the objects that policies have made.
                Event("UPDATE OF \(owner), \(other)", join, value, where: "Z_PK IN (NEW.\(owner), OLD.\(owner))"),
                // A row of a join table may be inserted before the row that it refers to.
                Event(
                    "INSERT", source, value,
                    where: "Z_PK IN (SELECT \(owner) FROM \(join.quotedName) WHERE \(other) = NEW.Z_PK)"),
            ] + [changed].compactMap { $0 }
        case .foreignKey:
            return nil
        }
    }
}

/// The rows whose derived attributes a trigger has computed. Core Data's triggers report them by calling the functions
/// defined here.
///
/// It is `Sendable` because its functions must be; only the connection's own thread uses it.
final class RecomputedRows: @unchecked Sendable {
    struct Row: Hashable {
        let table: String
        /// The entity number: `Z_ENT`.
        let number: Int64
        let key: Int64
    }

    var rows: Set<Row> = []

    var functions: [SQLiteFunction] {
        ["NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"]
            .map { name in
                SQLiteFunction(name, argumentCount: 5, isDeterministic: false, isCallableFromSchema: true) { values in
                    self.rows.insert(
                        Row(table: values.text(0) ?? "", number: values.integer(1), key: values.integer(2)))
                    return .null
                }
            }
    }
}

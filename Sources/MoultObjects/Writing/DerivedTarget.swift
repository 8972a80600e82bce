import MoultModel
import MoultSQLite
import MoultStore

/// A derived attribute's column, which writes the temporary triggers that keep it.
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

    /// Computes the column anew in all rows; nil if the derivation leads to nothing that is stored.
    package func statement(for shape: DerivedShape) -> String? {
        events(for: shape)?.first { $0.what == "INSERT" && $0.table == table }.map { event in
            "UPDATE \(table.quotedName) SET \(column) = \(event.value) WHERE Z_ENT IN (\(numbers))"
        }
    }

    /// Something that happens to rows of a table, what the column is then, and in which rows of its own table.
    private struct Event {
        let what: String
        let table: String
        /// Over a row of the own table, whose columns stand bare or behind the table's name.
        let value: String
        let condition: String

        init(_ what: String, _ table: String, _ value: String, where condition: String) {
            self.what = what
            self.table = table
            self.value = value
            self.condition = condition
        }
    }

    /// Nil if the derivation leads to nothing that is stored.
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
        case .own(let name, let isCanonical):
            guard let source = layout.column(forAttribute: name, in: entity)?.quotedName else { return nil }
            let value = canonical(source, isCanonical)
            return [
                Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
                Event("UPDATE OF \(source)", table, value, where: "Z_PK = NEW.Z_PK"),
            ]
        case .value(let relationship, let name, let isCanonical):
            return self.value(of: name, through: relationship, isCanonical)
        case .count(let relationship):
            return aggregate("count(*)", of: nil, over: relationship)
        case .sum(let relationship, let name):
            return aggregate("ifnull(sum(d.%), 0)", of: name, over: relationship)
        }
    }

    private func canonical(_ value: String, _ isCanonical: Bool) -> String {
        isCanonical ? "moult_canonical(\(value))" : value
    }

    private func destination(of relationship: String) -> (entity: EntityDescription, table: String)? {
        guard let name = layout.model.relationship(relationship, of: entity)?.destinationEntityName,
            let there = layout.model.entity(name), let table = layout.table(for: there)?.name
        else { return nil }
        return (there, table)
    }

    private func value(of name: String, through relationship: String, _ isCanonical: Bool) -> [Event]? {
        guard case .foreignKey(_, let key, _)? = layout.storage(ofRelationship: relationship, in: entity),
            let (there, source) = destination(of: relationship),
            let found = layout.column(forAttribute: name, in: there)?.quotedName
        else { return nil }
        let foreign = key.quotedName
        let value =
            "(SELECT \(canonical("d.\(found)", isCanonical)) FROM \(source.quotedName) AS d "
            + "WHERE d.Z_PK = \(table.quotedName).\(foreign))"
        return [
            Event("INSERT", table, value, where: "Z_PK = NEW.Z_PK"),
            Event("UPDATE OF \(foreign)", table, value, where: "Z_PK = NEW.Z_PK"),
            Event("INSERT", source, value, where: "\(foreign) = NEW.Z_PK"),
            Event("UPDATE OF \(found)", source, value, where: "\(foreign) = NEW.Z_PK"),
        ]
    }

    /// - Parameter function: over the destinations `d`, with % for the column.
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
                // A row of a join table may come before the row that it leads to.
                Event(
                    "INSERT", source, value,
                    where: "Z_PK IN (SELECT \(owner) FROM \(join.quotedName) WHERE \(other) = NEW.Z_PK)"),
            ] + [changed].compactMap { $0 }
        case .foreignKey:
            return nil
        }
    }
}

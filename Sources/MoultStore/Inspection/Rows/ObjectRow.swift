import MoultBasics
import MoultModel
import MoultSQLite

/// An object of a store, with values decoded by the types that the model declares.
package struct ObjectRow: Sendable, Hashable {
    package let shape: ObjectShape
    /// `Z_PK`
    package let primaryKey: Int64
    /// `Z_OPT`: 1 when the object is created, incremented by each save.
    package let saves: Int64
    /// The values of the shape's properties, in the same order.
    package let values: [PropertyValue]

    package var entityName: String { shape.entityName }
    package var reference: ObjectReference { ObjectReference(entityName: entityName, primaryKey: primaryKey) }

    /// The value of a property; nil for a name that the entity does not store.
    package subscript(name: String) -> PropertyValue? { shape.position(of: name).map { values[$0] } }
}

/// The stored properties of an entity, including inherited ones, for which each of its rows has values.
package struct ObjectShape: Sendable, Hashable {
    package let entityName: String
    /// The names in byte order. An element of a composite attribute is named by its path, `attribute.element`.
    package let properties: [String]
    /// The names by which the properties are shown, in the same order.
    package let shownNames: [String]

    package init(entityName: String, properties: [String]) {
        (self.entityName, self.properties) = (entityName, properties)
        shownNames = properties.withoutRepetition
    }

    func position(of name: String) -> Int? {
        let place = properties.partitioningIndex { !$0.precedesInByteOrder(name) }
        return place < properties.count && properties[place] == name ? place : nil
    }
}

/// A reference to an object by its entity's name and its key in that entity's table.
package struct ObjectReference: Sendable, Hashable {
    package let entityName: String
    package let primaryKey: Int64

    package init(entityName: String, primaryKey: Int64) {
        self.entityName = entityName
        self.primaryKey = primaryKey
    }
}

/// The value of one property in a row.
package enum PropertyValue: Sendable, Hashable {
    /// Nil if the store has NULL.
    case attribute(AttributeValue?)
    case toOne(ObjectReference?)
    /// The destinations in the order of an ordered relationship; otherwise sorted by key.
    case toMany([ObjectReference])
    /// A stored value that does not match the type the model declares.
    case undecodable(UndecodableValue)
}

/// A value that does not fit the model's type, with the reason and its bytes.
package struct UndecodableValue: Sendable, Hashable {
    package let reason: String
    /// The stored blob or text, or the digits of a number; empty if the store has no value.
    package let bytes: [UInt8]
    /// Whether the value is the name of a missing file of external data.
    package let isMissingFile: Bool

    package init(reason: String, bytes: [UInt8], isMissingFile: Bool = false) {
        (self.reason, self.bytes, self.isMissingFile) = (reason, bytes, isMissingFile)
    }
}

extension Array {
    /// Returns the first index at which `isSecond` holds, in an array that has all such elements at its end.
    fileprivate func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The columns to select from the rows of a table, added property by property. Each addition returns the field that
/// reads the property from a row. Every reader of objects is based on this type.
package struct RowColumns {
    /// The columns to select, without duplicates.
    package private(set) var names: [String]
    private let alias: String
    private let schema: String
    private let externalData: (String) throws -> [UInt8]?
    private var positions: [[String]: Int] = [:]

    /// - Parameters:
    ///   - names: the columns of the table that come first.
    ///   - alias: the table's name in the query.
    ///   - schema: the schema of the store.
    ///   - externalData: returns the contents of the external storage file with a name; nil if there is no such file.
    package init(
        _ names: [String], of alias: String = "t", schema: String = "main",
        externalData: @escaping (String) throws -> [UInt8]?
    ) {
        self.names = names.map { "\(alias.quotedName).\($0.quotedName)" }
        (self.alias, self.schema, self.externalData) = (alias, schema, externalData)
    }

    /// Adds adjacent columns and returns the position of the first. Columns added before keep their position.
    private mutating func add(_ more: [String]) -> Int {
        if let known = positions[more] { return known }
        positions[more] = names.count
        names += more
        return names.count - more.count
    }

    /// Selects an attribute.
    package mutating func attribute(_ attribute: AttributeDescription, _ column: String) -> RowField {
        let decoder = AttributeDecoder(
            type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage, externalData: externalData)
        return .attribute(decoder, column: add(["\(alias.quotedName).\(column.quotedName)"]))
    }

    /// Selects a to-one relationship.
    ///
    /// - Parameters:
    ///   - entityColumn: the column with the destination's entity number; nil if there is none.
    ///   - order: the column with the position in the ordered list at the other end; nil to omit it.
    package mutating func toOne(
        _ choice: EntityChoice, _ column: String, entityColumn: String?, order: String? = nil
    ) -> RowField {
        let columns = choice.columns(key: column, entity: entityColumn, of: alias.quotedName, schema: schema.quotedName)
        let place = add(columns)
        return .toOne(choice, column: place, order: order.map { add(["\(alias.quotedName).\($0.quotedName)"]) })
    }
}

/// The columns of a property in a row of ``RowColumns``.
package enum RowField {
    /// The value of an attribute, in this column.
    case attribute(AttributeDecoder, column: Int)
    /// The key of a to-one's destination in this column, followed by its entity number if the entity varies, and the
    /// position in the ordered list at the other end.
    case toOne(EntityChoice, column: Int, order: Int?)

    /// Returns the value in the current row.
    ///
    /// - Parameter first: the position of the list's first column in the row.
    package func value(_ row: Statement, from first: Int = 0) -> PropertyValue {
        switch self {
        case .attribute(let decoder, let column): return decoder.value(row, first + column)
        case .toOne(let choice, let column, _):
            if row.isNull(first + column) { return .toOne(nil) }
            if let reference = choice.reference(row, key: first + column, entity: first + column + 1) {
                return .toOne(reference)
            }
            return .undecodable(
                UndecodableValue(
                    reason: "a destination that is not an object of the store",
                    bytes: row.cell(first + column).bytes))
        }
    }
}

/// The entity of a relationship's destination: fixed by the model, or given by the number next to the key.
package struct EntityChoice {
    /// The name of the destination entity in the relationship.
    package let name: String
    /// The table that contains the entity's rows.
    package let table: String
    /// The entities of the store by number; empty if the table contains only one entity.
    let names: [Int64: String]

    /// Returns nil if the store does not contain the destination, which belongs to another configuration.
    ///
    /// - Parameter isTrusted: whether to assume that a destination of an entity without sub-entities is of that entity,
    ///   which is wrong only in a damaged store.
    package init?(_ relationship: RelationshipDescription, in layout: StoreLayout, isTrusted: Bool = false) {
        name = relationship.destinationEntityName
        guard let entity = layout.model.entity(name), let table = layout.table(for: entity)?.name else { return nil }
        self.table = table
        let tree = layout.numbers(ofEntityAndDescendants: isTrusted ? entity : layout.model.root(of: entity))
        names =
            tree.count == 1
            ? [:] : Dictionary(layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    package var isFixed: Bool { names.isEmpty }

    /// Returns the destination in a row, with its key in column `key` and its entity number in column `entity`; nil if
    /// either is invalid. A key without a row keeps the entity name of the relationship.
    package func reference(_ row: Statement, key: Int, entity: Int) -> ObjectReference? {
        guard row.storageClass(key) == .integer else { return nil }
        let primaryKey = row.integer(key)
        if isFixed || row.isNull(entity) { return ObjectReference(entityName: name, primaryKey: primaryKey) }
        return names[row.integer(entity)].map { ObjectReference(entityName: $0, primaryKey: primaryKey) }
    }

    /// Returns the columns that select the destination's key, and its entity number if needed, from the row `row` of a
    /// to-one.
    package func columns(key column: String, entity entityColumn: String?, of row: String, schema: String) -> [String] {
        let key = "\(row).\(column.quotedName)"
        guard !isFixed else { return [key] }
        let found = "(SELECT d.Z_ENT FROM \(schema).\(table.quotedName) AS d WHERE d.Z_PK = \(key))"
        return [key, entityColumn.map { "ifnull(\(row).\($0.quotedName), \(found))" } ?? found]
    }
}

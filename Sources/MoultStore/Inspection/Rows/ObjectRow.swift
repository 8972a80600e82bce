import MoultBasics
import MoultModel
import MoultSQLite

/// One object of a store, its values decoded by the types that the model declares.
package struct ObjectRow: Sendable, Hashable {
    package let shape: ObjectShape
    /// `Z_PK`
    package let primaryKey: Int64
    /// `Z_OPT`: 1 when the object was made, one more for each time it was saved.
    package let saves: Int64
    /// One for each of the shape's properties, in its order.
    package let values: [PropertyValue]

    package var entityName: String { shape.entityName }
    package var reference: ObjectReference { ObjectReference(entityName: entityName, primaryKey: primaryKey) }

    /// The value of a property; nil for a name that the entity does not store.
    package subscript(name: String) -> PropertyValue? { shape.position(of: name).map { values[$0] } }
}

/// The stored properties of an entity, inherited ones included: what each of its rows has values for.
package struct ObjectShape: Sendable, Hashable {
    package let entityName: String
    /// Names in byte order; an element of a composite attribute by its path, `attribute.element`.
    package let properties: [String]

    func position(of name: String) -> Int? {
        let place = properties.partitioningIndex { !$0.precedesInByteOrder(name) }
        return place < properties.count && properties[place] == name ? place : nil
    }
}

/// An object by its entity's name and its key in that entity's table.
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
    /// In the order of an ordered relationship, otherwise by key.
    case toMany([ObjectReference])
    /// A value that is not what the model declares, as it is stored.
    case undecodable(UndecodableValue)
}

/// A value that does not fit the model's type, with the reason and its bytes.
package struct UndecodableValue: Sendable, Hashable {
    package let reason: String
    /// The blob or the text as stored, a number as its digits; empty where the store has nothing.
    package let bytes: [UInt8]
    /// Whether it is the name of a file of external data that is not there.
    package let isMissingFile: Bool

    package init(reason: String, bytes: [UInt8], isMissingFile: Bool = false) {
        (self.reason, self.bytes, self.isMissingFile) = (reason, bytes, isMissingFile)
    }
}

extension Array {
    /// The first place from which on `isSecond` holds, in an array that has all such elements behind the others.
    fileprivate func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The columns to select of the rows of one table, put together property by property; the fields that it gives out read a
/// row of them. Every reader of objects stands on it.
package struct RowColumns {
    /// The list to select, each column once.
    package private(set) var names: [String]
    private let alias: String
    private let schema: String
    private let externalData: (String) throws -> [UInt8]?
    private var positions: [[String]: Int] = [:]

    /// - Parameters:
    ///   - names: columns of the table that come first.
    ///   - alias: what the query calls the table.
    ///   - schema: that of the store.
    ///   - externalData: the contents of a file of external storage by its name; nil if there is no such file.
    package init(
        _ names: [String], of alias: String = "t", schema: String = "main",
        externalData: @escaping (String) throws -> [UInt8]?
    ) {
        self.names = names.map { "\(alias.quotedName).\($0.quotedName)" }
        (self.alias, self.schema, self.externalData) = (alias, schema, externalData)
    }

    /// The place of the first of columns that stand together; columns that are there already keep their place.
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

    /// Selects a to-one.
    ///
    /// - Parameters:
    ///   - entityColumn: the column with the destination's number; nil if there is none.
    ///   - order: the column with the place in the ordered list at the other end; nil to leave it out.
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
    /// The key of a to-one's destination in this column, and its entity's number in the next where that varies; the place
    /// in the ordered list at the other end.
    case toOne(EntityChoice, column: Int, order: Int?)

    /// The value in the present row.
    ///
    /// - Parameter first: the place of the list's first column in the row.
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

/// The choice of the entity of a relationship's destination: by the model alone, or by the number next to the key.
package struct EntityChoice {
    /// The entity that the relationship names.
    package let name: String
    /// The table that holds its rows.
    package let table: String
    /// The entities of the store by number; empty where the table holds one entity only.
    let names: [Int64: String]

    /// Nil if the store does not hold the destination, which belongs to another configuration.
    ///
    /// - Parameter isTrusted: take it that a destination of an entity without sub-entities is of that entity, which
    ///   only a damaged store belies.
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

    /// The destination in a row whose column `key` holds its key and whose column `entity` its number; nil if either is
    /// nothing of the kind. A key that leads to no row keeps the name that the relationship has.
    package func reference(_ row: Statement, key: Int, entity: Int) -> ObjectReference? {
        guard row.storageClass(key) == .integer else { return nil }
        let primaryKey = row.integer(key)
        if isFixed || row.isNull(entity) { return ObjectReference(entityName: name, primaryKey: primaryKey) }
        return names[row.integer(entity)].map { ObjectReference(entityName: $0, primaryKey: primaryKey) }
    }

    /// Selects the destination's key, and its entity number where that is needed, from the row `row` of a to-one.
    package func columns(key column: String, entity entityColumn: String?, of row: String, schema: String) -> [String] {
        let key = "\(row).\(column.quotedName)"
        guard !isFixed else { return [key] }
        let found = "(SELECT d.Z_ENT FROM \(schema).\(table.quotedName) AS d WHERE d.Z_PK = \(key))"
        return [key, entityColumn.map { "ifnull(\(row).\($0.quotedName), \(found))" } ?? found]
    }
}

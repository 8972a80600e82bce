import MoultModel
import MoultSQLite

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
        let columns = choice.columns(
            key: column, entity: entityColumn, of: alias.quotedName, schema: schema.quotedName)
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

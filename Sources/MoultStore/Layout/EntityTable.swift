import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite

/// The table of one root entity, with the rows of that entity and all its descendants.
package struct EntityTable: Sendable, Equatable {
    package let name: String
    package let rootEntityName: String
    /// The columns in the order of the table.
    package let columns: [Column]
    /// The uniqueness constraints inside the table, as frameworks before 865 wrote them.
    package let constraints: [UniqueConstraint]
    /// The `CREATE TABLE` statement; for an existing store, the text in its catalogue.
    package let sql: String

    /// The first column of each role.
    private let names = Once<[Column.Role: String]>()

    package init(
        name: String, rootEntityName: String, columns: [Column], constraints: [UniqueConstraint] = [],
        sql: String? = nil
    ) {
        (self.name, self.rootEntityName) = (name, rootEntityName)
        (self.columns, self.constraints) = (columns, constraints)
        self.sql = sql ?? Self.createStatement(name, columns, constraints)
    }

    /// Returns the new table with further columns of an app, placed where `ALTER TABLE … ADD COLUMN` places them.
    func adding(_ definitions: [String]) -> EntityTable {
        EntityTable(
            name: name, rootEntityName: rootEntityName, columns: columns, constraints: constraints,
            sql: Self.createStatement(name, columns, constraints, adding: definitions))
    }

    /// The declared types of the columns, by name.
    package var types: [String: String] { Dictionary(columns.map { ($0.name, $0.type) }) { first, _ in first } }

    /// Returns the name of the column with the given role.
    package func column(_ role: Column.Role) -> String? {
        names.value {
            Dictionary(columns.map { ($0.role, $0.name) }, uniquingKeysWith: { first, _ in first })
        }[role]
    }

    /// A column of an entity's table.
    package struct Column: Sendable, Hashable {
        package let name: String
        /// The declared type: `INTEGER`, `FLOAT`, `TIMESTAMP`, `DECIMAL`, `VARCHAR` or `BLOB`.
        package let type: String
        package let role: Role

        package init(name: String, type: String, role: Role) { (self.name, self.type, self.role) = (name, type, role) }

        /// The role of a column. `entity` is the entity that declares the property, not one that inherits it.
        package enum Role: Sendable, Hashable {
            /// `Z_PK`
            case primaryKey
            /// `Z_ENT`, the number of the row's entity.
            case entity
            /// `Z_OPT`, the number of times the row was saved.
            case optimisticLock
            /// A value. An element of a composite attribute is named by its path, `attribute.element`.
            case attribute(entity: String, name: String)
            /// The primary key of a to-one relationship's destination.
            case toOne(entity: String, name: String)
            /// The entity number of a to-one relationship's destination.
            case toOneEntity(entity: String, name: String)
            /// In the destination's table, the primary key of the object that has the to-many relationship without an
            /// inverse; `entity` declares the relationship.
            case inverselessToMany(entity: String, name: String)
            /// The row's position in a to-many relationship without an inverse, if it is ordered.
            case inverselessOrder(entity: String, name: String)
            /// The row's position in the ordered to-many that is the inverse of this to-one relationship.
            case order(entity: String, name: String)
            /// A column that no part of the model explains.
            case unknown
        }
    }

    /// A uniqueness constraint, by its columns.
    package struct UniqueConstraint: Sendable, Hashable {
        package let columns: [String]
        package init(columns: [String]) { self.columns = columns }
    }

    private static func createStatement(
        _ name: String, _ columns: [Column], _ constraints: [UniqueConstraint], adding further: [String] = []
    ) -> String {
        let alone = Set(constraints.filter { $0.columns.count == 1 }.flatMap(\.columns))
        var sql = "CREATE TABLE \(name.sqlName) ( "
        sql.reserveCapacity(40 * columns.count)
        for (position, column) in columns.enumerated() {
            if position > 0 { sql += ", " }
            sql += column.name.sqlName
            sql += " "
            sql += column.type
            if column.role == .primaryKey {
                sql += " PRIMARY KEY"
            } else if !alone.isEmpty, alone.contains(column.name) {
                sql += " UNIQUE"
            }
        }
        let compound = constraints.filter { $0.columns.count > 1 }.map { constraint in
            let label = constraint.columns.joined(separator: "_")
            return ", CONSTRAINT \(label.sqlName) UNIQUE (\(constraint.columns.sqlList))"
        }
        let space = compound.isEmpty ? " " : ""
        let added = further.map { ", \($0)" }.joined()
        return sql + "\(space)\(added)\(compound.joined()))"
    }
}

/// An attribute with a column of its own: a plain attribute, or an element of a composite.
package struct StoredAttribute: Sendable, Hashable {
    /// The attribute's name; for an element of a composite, its path, `attribute.element`.
    package let name: String
    package let description: AttributeDescription

    package init(name: String, description: AttributeDescription) {
        self.name = name
        self.description = description
    }
}

extension ManagedObjectModel {
    /// Returns the attributes with columns that an entity itself declares, with composites flattened.
    package func storedAttributes(declaredBy entity: EntityDescription) -> [StoredAttribute] {
        entity.attributes.flatMap(\.leaves).compactMap(StoredAttribute.init)
    }

    /// Returns the attributes with columns of an entity, including inherited ones, with composites flattened.
    package func storedAttributes(of entity: EntityDescription) -> [StoredAttribute] {
        leaves(of: entity).compactMap(StoredAttribute.init)
    }
}

extension StoredAttribute {
    fileprivate init?(_ leaf: AttributeDescription) {
        guard leaf.isStored, leaf.type != .objectID else { return nil }
        self.init(name: leaf.name, description: leaf)
    }
}

extension AttributeType {
    /// The declared type of an attribute's column; nil for an attribute without a column.
    package var columnType: String? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .double, .float: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .string, .uri: "VARCHAR"
        case .uuid, .transformable, .binary: "BLOB"
        case .undefined, .objectID, .composite: nil
        }
    }
}

/// The storage of a decimal in a column.
///
/// A DECIMAL column has NUMERIC affinity, so Core Data's decimals are stored as an INTEGER or a REAL. Every decimal of
/// up to fifteen digits, and every 64-bit integer, can be stored exactly. Only some longer decimals can; for the
/// others, Core Data's column contains the nearest number.
package enum DecimalStorage {
    /// Returns the value that the column stores for the digits: the equal number, or else the nearest. Nil if the text
    /// is not a number, or if the nearest number cannot be a decimal.
    package static func value(_ digits: String) -> SQLiteValue? {
        equal(to: digits) ?? Double(digits).flatMap { $0.isFinite && DecimalNumber("\($0)") != nil ? .real($0) : nil }
    }

    /// Returns the number that is read back with exactly these digits; nil if there is none.
    package static func equal(to digits: String) -> SQLiteValue? {
        if let whole = Int64(digits) { return .integer(whole) }
        guard let number = Double(digits), number.isFinite else { return nil }
        if isShort(digits) { return .real(number) }
        guard let wanted = DecimalNumber(digits), DecimalNumber("\(number)")?.text == wanted.text else { return nil }
        return .real(number)
    }

    /// Returns the nearest number, which is stored if no number equals the digits.
    package static func nearest(_ digits: String) -> String? { Double(digits).flatMap { DecimalNumber("\($0)") }?.text }

    /// Returns whether there are at most fifteen digits and no exponent, as with amounts of money. Then no further
    /// check is needed.
    private static func isShort(_ digits: String) -> Bool {
        var count = 0
        for byte in digits.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): count += 1
            case UInt8(ascii: "."), UInt8(ascii: "-"): break
            default: return false
            }
        }
        return count <= 15
    }
}

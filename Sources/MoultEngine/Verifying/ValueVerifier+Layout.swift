import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

extension ValueVerifier {
    /// Of every attribute, element of a composite attribute and column of Core Data's own that a layout has.
    init(_ connection: Connection, _ layout: StoreLayout, withValues: Bool = false) {
        let attributes = layout.model.entities.flatMap { entity in
            entity.attributes.filter(\.isStored).flatMap(\.leaves).compactMap { attribute in
                Column(attribute, of: entity, in: layout)
            }
        }
        let keys = layout.tables.flatMap { table in
            table.columns.compactMap { Column($0, of: table) }
        }
        // A key of a pair that is none leads to nothing.
        let orders = layout.joinTables.flatMap { join in
            join.columns.compactMap { column in
                if case .order = column.role { Column(key: column.name, of: join.name) } else { nil }
            }
        }
        self.init(connection, columns: attributes + keys + orders, withValues: withValues)
    }
}

extension ValueVerifier.Column {
    fileprivate init?(_ attribute: AttributeDescription, of entity: EntityDescription, in layout: StoreLayout) {
        guard let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: attribute.name, in: entity),
            let form = ValueVerifier.Form(attribute)
        else { return nil }
        let name = attribute.type.name
        let article = "AEIO".contains(name.first ?? " ") ? "an" : "a"
        self.init(
            place: "\(entity.name).\(attribute.name)", table: table, column: column,
            numbers: layout.numbers(ofEntityAndDescendants: entity), form: form, typeName: "\(article) \(name)")
    }

    /// Keys, entity numbers, places in lists and the counter of writes.
    fileprivate init?(_ column: EntityTable.Column, of table: EntityTable) {
        switch column.role {
        case .primaryKey, .attribute, .unknown: return nil
        case .entity, .optimisticLock, .toOne, .toOneEntity, .inverselessToMany, .inverselessOrder, .order:
            self.init(key: column.name, of: table.name)
        }
    }

    fileprivate init(key column: String, of table: String) {
        self.init(
            place: "\(table).\(column)", table: table, column: column, numbers: [], form: .integer(.min ... .max),
            typeName: "an integer")
    }
}

extension ValueVerifier.Form {
    /// Nil for a type that has no column of its own.
    init?(_ attribute: AttributeDescription) {
        switch attribute.type {
        case .integer16: self = .integer(Int64(Int16.min)...Int64(Int16.max))
        case .integer32: self = .integer(Int64(Int32.min)...Int64(Int32.max))
        case .integer64: self = .integer(.min ... .max)
        case .boolean: self = .boolean
        case .double, .float, .date: self = .number
        case .decimal: self = .decimal
        case .string, .uri: self = .text
        case .uuid: self = .uuid
        case .binary, .transformable:
            self = attribute.allowsExternalBinaryDataStorage ? .externalBytes : .bytes
        case .undefined, .objectID, .composite: return nil
        }
    }
}

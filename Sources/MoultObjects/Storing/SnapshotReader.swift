import MoultModel
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads rows of one entity's table as snapshots: the list of columns to select, and what becomes of a row of them.
package final class SnapshotReader {
    /// The columns, separated by commas, of the row that ``init(of:includingSubentities:in:alias:)`` was told of.
    package let selectList: String
    package let columnCount: Int
    /// The table to select from.
    package let table: String
    /// What `Z_ENT` may be in the rows, ascending; empty where the table holds no other entity.
    package let numbers: [Int64]
    private let store: UUID
    private let variants: [Int64: Variant]

    /// How the rows of one entity are read.
    private struct Variant {
        let entityName: String
        let fields: [Field]
    }

    private enum Field {
        case none
        case attribute(AttributeDecoder, column: Int)
        case toOne(EntityChoice, column: Int)
    }

    /// - Parameters:
    ///   - alias: the name that the query gives the table.
    ///   - properties: those to read; empty for all.
    /// - Throws: `usage` for an entity that the store does not hold.
    package convenience init(
        of entityName: String, includingSubentities: Bool = true, in store: ObjectStore, alias: String = "t",
        properties: Set<String> = []
    ) throws {
        let entity = try store.columns(of: entityName)
        let below = includingSubentities ? store.model.descendants(of: entity.shape.entity) : []
        let others = try below.map { try store.columns(of: $0.name) }
        self.init([entity] + others, in: store, alias: alias, properties)
    }

    private init(_ entities: [EntityColumns], in store: ObjectStore, alias: String, _ properties: Set<String>) {
        var list = ColumnList(alias: alias)
        var variants: [Int64: Variant] = [:]
        for entity in entities {
            let fields = zip(entity.places, entity.shape.properties).map { place, property -> Field in
                guard properties.isEmpty || properties.contains(property.name) else { return .none }
                switch place {
                case .none, .toMany:
                    return .none
                case .attribute(let column, let attribute):
                    let decoder = AttributeDecoder(
                        type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage,
                        externalData: store.externalData)
                    return .attribute(decoder, column: list.add(["\(alias).\(column.quotedName)"]))
                case .toOne(let column, let entityColumn, let relationship):
                    let choice = relationship.destination
                    let columns = choice.columns(key: column, entity: entityColumn, of: alias, schema: "main")
                    return .toOne(choice, column: list.add(columns))
                }
            }
            variants[entity.number] = Variant(entityName: entity.shape.entity.name, fields: fields)
        }
        self.variants = variants
        self.store = store.identifier
        selectList = list.columns.joined(separator: ", ")
        columnCount = list.columns.count
        table = entities.first?.table ?? ""
        let root = entities.first.map { store.model.root(of: $0.shape.entity) }
        let all = root.map { store.model.descendants(of: $0).count + 1 } ?? 0
        numbers = all == variants.count ? [] : variants.keys.sorted()
    }

    /// The object of the present row.
    ///
    /// - Parameter first: the place of the list's first column in the row.
    /// - Throws: `storeCorrupted` for a row of an entity that does not belong to the table.
    package func snapshot(_ row: Statement, from first: Int = 0) throws -> ObjectSnapshot {
        let key = row.integer(first)
        let number = row.integer(first + 1)
        guard let variant = variants[number] else {
            throw MigrationError(
                .storeCorrupted,
                "The row \(key) of \(table) is of the entity number \(number), which does not "
                    + "belong there.", place: table, remedy: "Restore the store from a backup.")
        }
        let id = ObjectID(store: store, entityName: variant.entityName, key: key)
        var values: [ObjectValue?] = []
        values.reserveCapacity(variant.fields.count)
        for field in variant.fields { values.append(value(field, row, first)) }
        return ObjectSnapshot(id: id, version: row.integer(first + 2), values: values)
    }

    /// Nil too for what cannot be what the model declares: one bad value does not hide the others of its object.
    private func value(_ field: Field, _ row: Statement, _ first: Int) -> ObjectValue? {
        switch field {
        case .none:
            return nil
        case .attribute(let decoder, let column):
            switch decoder.value(row, first + column) {
            case .attribute(let value): return .attribute(value)
            case .toOne, .toMany, .undecodable: return nil
            }
        case .toOne(let choice, let column):
            if row.isNull(first + column) { return .toOne(nil) }
            guard let reference = choice.reference(row, key: first + column, entity: first + column + 1) else {
                return nil
            }
            return .toOne(ObjectID(store: store, entityName: reference.entityName, key: reference.primaryKey))
        }
    }

    /// The columns to select, each once: key, entity and saves first.
    private struct ColumnList {
        var columns: [String]
        private var positions: [[String]: Int] = [:]

        init(alias: String) { columns = ["\(alias).Z_PK", "\(alias).Z_ENT", "\(alias).Z_OPT"] }

        /// The place of the first of columns that stand together.
        mutating func add(_ more: [String]) -> Int {
            if let known = positions[more] { return known }
            positions[more] = columns.count
            columns += more
            return columns.count - more.count
        }
    }
}

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
    private let decoders: [AttributeDecoder]
    private let choices: [EntityChoice]
    private var builder: StoredRow.Builder
    /// Of the names of entities, among those of the rows' destinations.
    private let places: [String: Int]

    /// How the rows of one entity are read.
    private struct Variant {
        let entityName: String
        let fields: [Field]
    }

    /// What becomes of a property of each row. It holds nothing, so that looking through those of each row counts no
    /// references.
    private enum Field {
        case none
        /// `decoder` is the place of the one that reads what does not lie there plainly.
        case attribute(AttributeType, isExternal: Bool, column: Int, decoder: Int)
        /// `only` is the place among the names of entities of the one that it may lead to; nil for several, among which
        /// the choice of that place chooses.
        case toOne(column: Int, only: Int?, choice: Int)
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
        let names = store.model.entities.map(\.name)
        let places = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        var decoders: [AttributeDecoder] = []
        var choices: [EntityChoice] = []
        for entity in entities {
            let fields = zip(entity.places, entity.shape.properties).map { place, property -> Field in
                guard properties.isEmpty || properties.contains(property.name) else { return .none }
                switch place {
                case .none, .toMany:
                    return .none
                case .attribute(let column, let attribute):
                    let isExternal = attribute.allowsExternalBinaryDataStorage
                    decoders.append(
                        AttributeDecoder(
                            type: attribute.type, isExternal: isExternal, externalData: store.externalData))
                    return .attribute(
                        attribute.type, isExternal: isExternal, column: list.add(["\(alias).\(column.quotedName)"]),
                        decoder: decoders.count - 1)
                case .toOne(let column, let entityColumn, let relationship):
                    let choice = relationship.destination
                    let columns = choice.columns(key: column, entity: entityColumn, of: alias, schema: "main")
                    choices.append(choice)
                    let only = choice.isFixed ? places[choice.name] : nil
                    return .toOne(column: list.add(columns), only: only, choice: choices.count - 1)
                }
            }
            variants[entity.number] = Variant(entityName: entity.shape.entity.name, fields: fields)
        }
        self.variants = variants
        self.decoders = decoders
        self.choices = choices
        self.places = places
        self.store = store.identifier
        builder = StoredRow.Builder(.init(store: store.identifier, entityNames: names))
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
                    + "belong there.", place: table, remedy: MigrationError.damagedStoreRemedy)
        }
        let id = ObjectID(store: store, entityName: variant.entityName, key: key)
        let values = PositionedValues(made(of: variant.fields, row, first, &builder))
        return ObjectSnapshot(id: id, version: row.integer(first + 2), values: values)
    }

    private func made(
        of fields: [Field], _ row: Statement, _ first: Int, _ builder: inout StoredRow.Builder
    ) -> StoredRow {
        for field in fields { add(field, row, first, to: &builder) }
        return builder.row()
    }

    /// Nothing too for what cannot be what the model declares: one bad value does not hide the others of its object.
    private func add(_ field: Field, _ row: Statement, _ first: Int, to builder: inout StoredRow.Builder) {
        switch field {
        case .none:
            builder.addNothing()
        case .attribute(let type, let isExternal, let column, let decoder):
            let cell = row.cell(first + column)
            let storage = cell.storageClass
            if storage == .null { return builder.addNull() }
            if let plain = AttributeDecoder.plain(cell, storage, type, isExternal: isExternal) {
                return builder.add(plain)
            }
            switch decoders[decoder].value(row, first + column) {
            case .attribute(let value): builder.add(value)
            case .toOne, .toMany, .undecodable: builder.addNothing()
            }
        case .toOne(let column, let only, let choice):
            switch (row.storageClass(first + column), only) {
            case (.null, _): builder.addNoDestination()
            case (.integer, let only?): builder.addDestination(only, row.integer(first + column))
            default:
                let reference = choices[choice].reference(row, key: first + column, entity: first + column + 1)
                guard let reference, let place = places[reference.entityName] else { return builder.addNothing() }
                builder.addDestination(place, reference.primaryKey)
            }
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

import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension ObjectStore {
    /// Returns the transactions of the store's history, oldest first; none for a store without history.
    ///
    /// Changes to entities that are not in the model are left out.
    /// - Parameters:
    ///   - after: the transaction number after which to begin.
    ///   - last: the number of the last transaction to return.
    ///   - timestamps: the range of save times, in seconds since 2001-01-01 00:00:00 UTC; nil for any time.
    package func historyRecords(
        after: Int64 = 0, through last: Int64 = .max, timestamps: ClosedRange<Double>? = nil
    ) throws -> [HistoryRecord] {
        guard layout.hasHistory else { return [] }
        return try reading {
            var records = try transactions(after: after, last, timestamps)
            let places = Dictionary(records.enumerated().map { ($1.number, $0) }) { first, _ in first }
            let decoder = ChangeDecoder(self)
            let tombstones = try columns(ofTable: "ACHANGE").filter { $0.hasPrefix("ZTOMBSTONE") }
            let list = ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"] + tombstones
            try connection.forEachRow(
                "SELECT \(list.joined(separator: ", ")) FROM ACHANGE WHERE ZTRANSACTIONID > ? "
                    + "AND ZTRANSACTIONID <= ? ORDER BY Z_PK", [.integer(after), .integer(last)]
            ) { row in
                guard let place = places[row.integer(4)], let change = try decoder.change(row) else { return }
                records[place].changes.append(change)
            }
            return records
        }
    }

    /// Deletes transactions and their changes from the history.
    package func deleteHistory(_ transactions: [Int64]) throws {
        guard layout.hasHistory, !transactions.isEmpty else { return }
        try writing {
            for number in transactions {
                try writer.statement("DELETE FROM ACHANGE WHERE ZTRANSACTIONID = ?").run([.integer(number)])
                try writer.statement("DELETE FROM ATRANSACTION WHERE Z_PK = ?").run([.integer(number)])
            }
        }
    }

    /// Returns the number of the last transaction that was deleted along with all before it; 0 if there is none.
    package func lastForgottenTransaction() throws -> Int64 {
        try transactionNumber("COALESCE((SELECT min(Z_PK) - 1 FROM ATRANSACTION), \(Self.highestTransaction), 0)")
    }

    /// Checks that the history after a token is complete: none of it has been deleted, and no restore has undone
    /// transactions that the token includes.
    ///
    /// - Throws: `historyTokenExpired`.
    package func checkHistoryToken(_ number: Int64) throws {
        let forgotten = try lastForgottenTransaction()
        guard number >= forgotten else {
            throw Self.expired(
                "The history from transaction \(number) up to transaction \(forgotten) has been deleted.", path)
        }
        let metadata = try reading { try StoreMetadata(from: connection) }
        guard let lost = RestoreMark(metadata)?.lost.first(where: { $0.contains(number) }) else { return }
        throw Self.expired(
            "The store was restored from a backup: transactions \(lost.lowerBound) to \(lost.upperBound) are gone.",
            path)
    }

    private static func expired(_ message: String, _ path: String) -> MigrationError {
        MigrationError(
            .historyTokenExpired, message, place: path,
            remedy: "Read the objects again, then use the token of the last transaction.")
    }

    /// Returns the number of the last transaction ever written; 0 if there is none.
    package func lastTransaction() throws -> Int64 {
        try transactionNumber(
            "max(COALESCE((SELECT max(Z_PK) FROM ATRANSACTION), 0), COALESCE(\(Self.highestTransaction), 0))")
    }

    private static let highestTransaction =
        "(SELECT \(PrimaryKeyRow.highestSQL) FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION')"

    private func transactionNumber(_ expression: String) throws -> Int64 {
        guard layout.hasHistory else { return 0 }
        return try reading { try connection.rows("SELECT \(expression)") { $0.integer(0) }.first ?? 0 }
    }

    private func transactions(
        after: Int64, _ last: Int64, _ timestamps: ClosedRange<Double>?
    ) throws -> [HistoryRecord] {
        let columns = try columns(ofTable: "ATRANSACTION")
        // The texts are in a table of their own or, in older stores, in the row.
        let texts = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].map { name in
            columns.contains("Z\(name)TS")
                ? "COALESCE(Z\(name), (SELECT ZNAME FROM ATRANSACTIONSTRING AS s WHERE s.Z_PK = t.Z\(name)TS))"
                : "Z\(name)"
        }
        let isTimed = timestamps == nil ? "" : "AND ZTIMESTAMP BETWEEN ? AND ? "
        let bounds = timestamps.map { [SQLiteValue.real($0.lowerBound), .real($0.upperBound)] } ?? []
        return try connection.rows(
            "SELECT Z_PK, ZTIMESTAMP, \(texts.joined(separator: ", ")) FROM ATRANSACTION AS t WHERE Z_PK > ? "
                + "AND Z_PK <= ? \(isTimed)ORDER BY Z_PK", [.integer(after), .integer(last)] + bounds
        ) { row in
            HistoryRecord(
                number: row.integer(0), timestamp: row.real(1), author: row.text(2), bundleIdentifier: row.text(3),
                contextName: row.text(4), processName: row.text(5))
        }
    }

    private func columns(ofTable table: String) throws -> [String] {
        try connection.rows("PRAGMA table_info(\(table))") { $0.text(1) ?? "" }
    }
}

/// A decoder of rows of `ACHANGE`.
private final class ChangeDecoder {
    private let store: ObjectStore
    private var shapes: [Int64: Shape?] = [:]

    private struct Shape {
        let entityName: String
        let slots: [HistorySlots.Slot]
        let toManyNames: [String]
        /// The preserved attributes, in the order of their columns.
        let kept: [(name: String, decoder: AttributeDecoder)]
    }

    init(_ store: ObjectStore) { self.store = store }

    func change(_ row: Statement) throws -> HistoryRecord.Change? {
        guard let kind = HistoryRecord.Change.Kind(rawValue: row.integer(1)), let shape = shape(row.integer(2)) else {
            return nil
        }
        var tombstone: [String: AttributeValue] = [:]
        for (position, kept) in shape.kept.enumerated() where kind == .delete && position + 6 < row.columnCount {
            if case .attribute(let value?) = kept.decoder.value(row, position + 6) { tombstone[kept.name] = value }
        }
        return HistoryRecord.Change(
            number: row.integer(0), kind: kind, object: store.id(shape.entityName, key: row.integer(3)),
            properties: kind == .update ? properties(row.blob(5) ?? [], shape) : [], tombstone: tombstone)
    }

    private func properties(_ bits: [UInt8], _ shape: Shape) -> [String] {
        var names: Set<String> = []
        for (place, slot) in shape.slots.enumerated() {
            guard place / 8 < bits.count, bits[place / 8] & (0x80 >> UInt8(place % 8)) != 0 else { continue }
            switch slot {
            case .toOne(let name), .toOneEntity(let name), .order(let name), .attribute(let name): names.insert(name)
            case .toMany: names.formUnion(shape.toManyNames)
            }
        }
        return names.inByteOrder()
    }

    private func shape(_ number: Int64) -> Shape? {
        if let known = shapes[number] { return known }
        let made = store.entityName(number).flatMap { store.model.entity($0) }.map { entity in
            let slots = HistorySlots(of: entity, in: store.layout)
            let kept = store.model.lineage(of: entity).reversed().flatMap(\.attributes)
                .filter { $0.preservesValueInHistoryOnDeletion && $0.isStored }
            return Shape(
                entityName: entity.name, slots: slots.slots, toManyNames: slots.toManyNames,
                kept: kept.map { attribute in
                    let decoder = AttributeDecoder(
                        type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage,
                        externalData: store.externalData)
                    return (attribute.name, decoder)
                })
        }
        shapes[number] = .some(made)
        return made
    }
}

/// One transaction of a store's persistent history, with its changes: `NSPersistentHistoryTransaction`.
package struct HistoryRecord: Sendable {
    /// The `Z_PK` in `ATRANSACTION`; later transactions have greater numbers.
    package let number: Int64
    /// The time of the save, in seconds since 2001-01-01 00:00:00 UTC.
    package let timestamp: Double
    package let author: String?
    package let bundleIdentifier: String?
    package let contextName: String?
    package let processName: String?
    package var changes: [Change] = []

    /// The insertion, update or deletion of one object.
    package struct Change: Sendable {
        package enum Kind: Int64, Sendable { case insert, update, delete }

        /// The `Z_PK` in `ACHANGE`.
        package let number: Int64
        package let kind: Kind
        package let object: ObjectID
        /// The names of the properties that an update changed. A change to one of several to-many relationships names
        /// all of them, because the order of their bits is unknown.
        package let properties: [String]
        /// The values of the object preserved after its deletion, by attribute.
        package let tombstone: [String: AttributeValue]
    }
}

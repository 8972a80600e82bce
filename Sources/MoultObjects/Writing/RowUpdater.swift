import MoultModel
import MoultSQLite
import MoultStore

/// Updates rows of one entity, always the same properties of it, by one prepared statement.
final class RowUpdater {
    private let slots: [RowSlot]
    private let statement: Statement
    private let keyParameter: Int
    private unowned let writer: RowWriter

    init(_ entity: EntityColumns, positions: [Int], writer: RowWriter) throws {
        self.writer = writer
        var columns = ["Z_OPT"]
        slots = try positions.map { try RowSlot($0, of: entity, writer, columns: &columns) }
        keyParameter = columns.count + 1
        let assignments = columns.map { "\($0.quotedName) = ?" }.joined(separator: ", ")
        statement = try writer.connection.prepare(
            "UPDATE \(entity.table.quotedName) SET \(assignments) WHERE Z_PK = ?")
    }

    /// - Parameters:
    ///   - values: one for each position, each of its property's kind.
    ///   - placed: whether a row gets its place in an ordered list together with its owner.
    func update(
        _ key: Int64, version: Int64, _ values: [(position: Int, value: ObjectValue)],
        _ reference: (ObjectID) throws -> ObjectReference, placed: (StoredRelationship, Int64) -> Bool
    ) throws {
        statement.clearBindings()
        try statement.bind(version, at: 1)
        try statement.bind(key, at: keyParameter)
        for (slot, value) in zip(slots, values) {
            switch (slot, value.value) {
            case (.attribute(let binder), .attribute(let value?)): try binder.bind(value, to: statement)
            case (.toOne(let binder), .toOne(let destination?)):
                let reference = try reference(destination)
                try binder.bind(
                    reference, to: statement, placed: placed(binder.relationship, reference.primaryKey), writer)
            // What is not bound is NULL.
            default: break
            }
        }
        try statement.run()
    }
}

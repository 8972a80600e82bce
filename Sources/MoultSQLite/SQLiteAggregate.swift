import CSQLite
import MoultModel

/// A function of SQL over the rows of a group, written in Swift.
package struct SQLiteAggregate: Sendable {
    package var name: String
    package var argumentCount: Int32
    /// The closure that makes the initial state of one group.
    package var start: @Sendable () -> any SQLiteAggregation

    package init(_ name: String, argumentCount: Int32, start: @escaping @Sendable () -> any SQLiteAggregation) {
        self.name = name
        self.argumentCount = argumentCount
        self.start = start
    }
}

/// The aggregation of one group of rows to a value.
package protocol SQLiteAggregation: AnyObject {
    /// Takes in one row, in the order in which SQLite meets them.
    func add(_ arguments: SQLiteArguments) throws
    func value() throws -> SQLiteValue
}

/// A group that SQLite holds.
private final class AggregationBox {
    let aggregation: any SQLiteAggregation
    init(_ aggregation: any SQLiteAggregation) { self.aggregation = aggregation }
}

private final class AggregateBox {
    let start: @Sendable () -> any SQLiteAggregation
    // The connection owns the function, which must not own the connection.
    private unowned let connection: Connection

    init(_ aggregate: SQLiteAggregate, _ connection: Connection) {
        start = aggregate.start
        self.connection = connection
    }

    func guarding(_ context: OpaquePointer?, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            connection.functionError = error
            sqlite3_result_error(context, "\(error)", -1)
        }
    }
}

extension Connection {
    /// Makes the aggregate known to this connection's statements. What it throws is what the statement's step throws.
    package func register(_ aggregate: SQLiteAggregate) throws {
        let box = Unmanaged.passRetained(AggregateBox(aggregate, self)).toOpaque()
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        let result = sqlite3_create_function_v2(
            handle, aggregate.name, aggregate.argumentCount, flags, box, nil,
            { context, count, values in
                guard let box = aggregateBox(context) else { return }
                guard let place = groupPlace(context, byteCount: Int32(MemoryLayout<UnsafeRawPointer>.size)) else {
                    sqlite3_result_error_nomem(context)
                    return
                }
                let group = place.pointee ?? Unmanaged.passRetained(AggregationBox(box.start())).toOpaque()
                place.pointee = group
                box.guarding(context) {
                    try Unmanaged<AggregationBox>.fromOpaque(group).takeUnretainedValue()
                        .aggregation.add(SQLiteArguments(values: values, count: Int(count)))
                }
            },
            { context in
                guard let box = aggregateBox(context) else { return }
                // A group without rows has no place.
                let group = groupPlace(context, byteCount: 0)?.pointee
                    .map { Unmanaged<AggregationBox>.fromOpaque($0).takeRetainedValue().aggregation }
                box.guarding(context) { setResult(try (group ?? box.start()).value(), context) }
            },
            { pointer in
                if let pointer { Unmanaged<AggregateBox>.fromOpaque(pointer).release() }
            })
        try check(result)
    }
}

private func aggregateBox(_ context: OpaquePointer?) -> AggregateBox? {
    sqlite3_user_data(context).map { Unmanaged<AggregateBox>.fromOpaque($0).takeUnretainedValue() }
}

/// Returns the place where SQLite keeps, for one group, the reference to Swift's state of it; zero at first.
private func groupPlace(_ context: OpaquePointer?, byteCount: Int32) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>?
{
    sqlite3_aggregate_context(context, byteCount)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

import CSQLite

/// A SQL function implemented in Swift.
package struct SQLiteFunction: Sendable {
    package var name: String
    /// The number of arguments; -1 for any number.
    package var argumentCount: Int32
    /// Whether equal arguments always give an equal result.
    package var isDeterministic: Bool
    /// Whether triggers and views of the database, which may be hostile, may call it.
    package var isCallableFromSchema: Bool
    package var body: @Sendable (SQLiteArguments) throws -> SQLiteValue

    package init(
        _ name: String, argumentCount: Int32, isDeterministic: Bool = true, isCallableFromSchema: Bool = false,
        body: @escaping @Sendable (SQLiteArguments) throws -> SQLiteValue
    ) {
        (self.name, self.argumentCount, self.isDeterministic) = (name, argumentCount, isDeterministic)
        (self.isCallableFromSchema, self.body) = (isCallableFromSchema, body)
    }

    /// Stubs for functions that the triggers of Core Data's stores call and that exist only in Core Data. They do
    /// nothing, so that rows can be written. The writer must compute the values that such a trigger keeps up to date.
    static let coreDataStubs: [SQLiteFunction] = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataTriggerUpdateAffectedObjectValue", "NSCoreDataNow",
    ].map { name in
        SQLiteFunction(name, argumentCount: -1, isDeterministic: false, isCallableFromSchema: true) { _ in .null }
    }
}

/// The arguments of one function call, in SQLite's own memory; valid only during the call.
package struct SQLiteArguments {
    let values: UnsafeMutablePointer<OpaquePointer?>?
    package let count: Int

    package func isNull(_ index: Int) -> Bool { cell(index).isNull }
    package func storageClass(_ index: Int) -> SQLiteValue.StorageClass { cell(index).storageClass }
    package func integer(_ index: Int) -> Int64 { cell(index).integer }
    package func real(_ index: Int) -> Double { cell(index).real }
    package func text(_ index: Int) -> String? { cell(index).text }
    package func withBytes<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try cell(index).withBytes(body)
    }
    package subscript(index: Int) -> SQLiteValue { cell(index).copy }

    package func cell(_ index: Int) -> SQLiteCell {
        precondition(index >= 0 && index < count, "a function asked for an argument that it does not declare")
        return SQLiteCell(value: values?[index])
    }
}

// MARK: - Registering

private final class FunctionBox {
    let body: @Sendable (SQLiteArguments) throws -> SQLiteValue
    // Unowned, because the connection owns the function.
    unowned let connection: Connection

    init(_ function: SQLiteFunction, _ connection: Connection) {
        body = function.body
        self.connection = connection
    }
}

extension Connection {
    /// Registers ``SQLiteFunction/coreDataStubs``, so that rows of a store with triggers can be written.
    package func registerCoreDataStubs() throws {
        for stub in SQLiteFunction.coreDataStubs { try register(stub) }
    }

    /// Registers the function with this connection. If the function throws, the statement's step throws the same error.
    package func register(_ function: SQLiteFunction) throws {
        var flags = SQLITE_UTF8
        if function.isDeterministic { flags |= SQLITE_DETERMINISTIC }
        // With an untrusted schema, a trigger may call only functions marked as innocuous.
        flags |= function.isCallableFromSchema ? SQLITE_INNOCUOUS : SQLITE_DIRECTONLY
        let box = Unmanaged.passRetained(FunctionBox(function, self)).toOpaque()
        let result = sqlite3_create_function_v2(
            handle, function.name, function.argumentCount, flags, box,
            { context, count, values in
                guard let pointer = sqlite3_user_data(context) else { return }
                // SQLite keeps the box while the function is registered.
                Unmanaged<FunctionBox>.fromOpaque(pointer)._withUnsafeGuaranteedRef { box in
                    do {
                        setResult(try box.body(SQLiteArguments(values: values, count: Int(count))), context)
                    } catch {
                        box.connection.functionError = error
                        sqlite3_result_error(context, "\(error)", -1)
                    }
                }
            }, nil, nil,
            { pointer in
                if let pointer { Unmanaged<FunctionBox>.fromOpaque(pointer).release() }
            })
        try check(result)
    }
}

func setResult(_ value: SQLiteValue, _ context: OpaquePointer?) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text):
        text.withBytes {
            sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), moult_sqlite_transient, UInt8(SQLITE_UTF8))
        }
    case .blob(let bytes):
        if bytes.isEmpty {
            sqlite3_result_zeroblob(context, 0)
        } else {
            bytes.withUnsafeBytes {
                sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), moult_sqlite_transient)
            }
        }
    }
}

/// A SQL aggregate function implemented in Swift.
package struct SQLiteAggregate: Sendable {
    package var name: String
    package var argumentCount: Int32
    /// A closure that creates the initial state of one group.
    package var start: @Sendable () -> any SQLiteAggregation

    package init(_ name: String, argumentCount: Int32, start: @escaping @Sendable () -> any SQLiteAggregation) {
        (self.name, self.argumentCount, self.start) = (name, argumentCount, start)
    }
}

/// The aggregation of one group of rows to a single value.
package protocol SQLiteAggregation: AnyObject {
    /// Adds one row. Rows arrive in the order in which SQLite visits them.
    func add(_ arguments: SQLiteArguments) throws
    func value() throws -> SQLiteValue
}

/// The state of one group, retained by SQLite.
private final class AggregationBox {
    let aggregation: any SQLiteAggregation
    init(_ aggregation: any SQLiteAggregation) { self.aggregation = aggregation }
}

private final class AggregateBox {
    let start: @Sendable () -> any SQLiteAggregation
    // Unowned, because the connection owns the function.
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
    /// Registers the aggregate with this connection. If it throws, the statement's step throws the same error.
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
                // A group without rows has no state.
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

/// Returns the memory where SQLite keeps the reference to a group's Swift state; initially zero.
private func groupPlace(_ context: OpaquePointer?, byteCount: Int32) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>?
{
    sqlite3_aggregate_context(context, byteCount)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

import MoultModel
import MoultSQLite

/// A closure of a mapping as a function of SQL: `moult_transform_0(key, argument, …)`.
///
/// It is called once for a row, inside the statement that carries it over. Arguments are read where SQLite keeps them,
/// by kinds that are known beforehand.
struct TransformFunction: Sendable, Equatable {
    let name: String
    let transform: ValueTransform
    /// The attribute that takes the result.
    let attribute: AttributeDescription
    /// The entity of the attribute, and that of the rows.
    let entity: String
    let sourceEntity: String
    let arguments: [Argument]

    struct Argument: Sendable, Hashable {
        let kind: ValueKind
        /// A transformable or external value, whose bytes are the value.
        let isBytes: Bool
        /// As errors name it.
        let format: String
    }

    var function: SQLiteFunction {
        let call = TransformCall(self)
        return SQLiteFunction(name, argumentCount: Int32(arguments.count + 1), isDeterministic: false) { row in
            try call.result(row)
        }
    }

    fileprivate func failure(_ error: any Error, _ values: [AttributeValue?], _ key: Int64) -> MigrationError {
        let reason = (error as? TransformFault)?.message ?? (error as? MigrationError)?.message ?? "\(error)"
        let given = zip(arguments, values).map { "\($0.format) = \($1?.text ?? "nil")" }.joined(separator: ", ")
        return MigrationError(
            .policyFailed,
            "The closure \(transform.name) for \(entity).\(attribute.name) failed at \(sourceEntity) \(key) "
                + "(\(given)): \(reason)", place: "\(entity).\(attribute.name)",
            remedy: "Correct the closure or the value; the store is as it was.")
    }
}

/// Why a closure's result was not taken.
private struct TransformFault: Error {
    let message: String
}

/// The call of a closure for one row after the other.
private final class TransformCall: Sendable {
    private let function: TransformFunction
    // Of the function, where every row asks for it.
    private let call: @Sendable (any TransformArguments) throws -> AttributeValue?
    private let type: AttributeType
    fileprivate let arguments: [(kind: ValueKind, isBytes: Bool)]

    init(_ function: TransformFunction) {
        self.function = function
        call = function.transform.call
        type = function.attribute.type
        arguments = function.arguments.map { ($0.kind, $0.isBytes) }
    }

    func result(_ row: SQLiteArguments) throws -> SQLiteValue {
        let given = RowArguments(row: row, call: .passUnretained(self))
        do {
            switch try call(given) {
            case nil: return try nothing()
            // Most closures return a text where one is wanted.
            case .string(let text)?: return type == .string ? .text(text) : try stored(.string(text))
            case let value?: return try stored(value)
            }
        } catch let fault as ArgumentFault {
            throw function.arguments[fault.position].mismatch
        } catch {
            let values = arguments.indices.map { try? given.value($0) }
            throw function.failure(error, values, row.integer(0))
        }
    }

    private func nothing() throws -> SQLiteValue {
        let attribute = function.attribute
        guard attribute.isOptional else {
            throw TransformFault(message: "it returned nil, and \(attribute.name) is required")
        }
        return .null
    }

    private func stored(_ value: AttributeValue) throws -> SQLiteValue {
        let fitted = value.fitted(to: type)
        guard fitted.isHeld(by: type), let stored = fitted.stored else {
            throw TransformFault(
                message: "it returned \(value.text), and \(function.attribute.name) is \(type.name)")
        }
        if case .blob(let bytes) = stored, function.attribute.allowsExternalBinaryDataStorage {
            return .blob([1] + bytes)
        }
        return stored
    }
}

extension TransformFunction.Argument {
    var mismatch: MigrationError {
        MigrationError(
            .storeCorrupted, "A row holds a value that is not \(kind.name), as \(format) declares.", place: format,
            remedy: "Look at the objects with moult dump, and restore the store from a backup.")
    }
}

/// An argument holds a value of another storage class than its kind's.
private struct ArgumentFault: Error {
    let position: Int
}

/// The arguments in the present row; the first of the row is its key. It holds nothing, so that making one for each row
/// costs nothing, and is good during the call only.
private struct RowArguments: TransformArguments {
    let row: SQLiteArguments
    let call: Unmanaged<TransformCall>

    private func argument(_ position: Int) -> (kind: ValueKind, isBytes: Bool) {
        call._withUnsafeGuaranteedRef { $0.arguments[position] }
    }

    func text(_ position: Int) -> String? {
        let isText = argument(position).kind == .string && row.storageClass(position + 1) == .text
        // What closures do most is to append.
        return isText ? row.text(position + 1, room: 32) : nil
    }

    func value(_ position: Int) throws -> AttributeValue? {
        let index = position + 1
        let argument = argument(position)
        switch (argument.kind, row.storageClass(index)) {
        case (_, .null): return nil
        case (.string, .text): return row.text(index).map(AttributeValue.string)
        case (.integer, .integer), (.number, .integer): return .integer(row.integer(index))
        case (.real, .real), (.real, .integer), (.number, .real): return .double(row.real(index))
        case (.boolean, .integer): return .boolean(row.integer(index) != 0)
        case (.date, .real), (.date, .integer): return .date(row.real(index))
        case (.decimal, .integer): return .decimal(String(row.integer(index)))
        case (.decimal, .real):
            let digits = row.real(index).description
            return .decimal(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
        case (.decimal, .text): return row.text(index).map(AttributeValue.decimal)
        case (.uri, .text): return row.text(index).map(AttributeValue.uri)
        case (.uuid, .blob): return .uuid(row.withBytes(index) { Array($0) })
        case (.data, .blob), (.opaque, .blob):
            let bytes = row.withBytes(index) { Array($0) }
            return argument.isBytes ? .transformable(bytes) : .binary(bytes)
        default: throw ArgumentFault(position: position)
        }
    }

    var all: [AttributeValue?] {
        get throws { try call._withUnsafeGuaranteedRef { try $0.arguments.indices.map(value) } }
    }
}

extension AttributeValue {
    /// Whether an attribute of the type can hold the value as it is.
    fileprivate func isHeld(by type: AttributeType) -> Bool {
        switch (self, type) {
        case (.integer(let number), .integer16): Int16(exactly: number) != nil
        case (.integer(let number), .integer32): Int32(exactly: number) != nil
        case (.uuid(let bytes), .uuid): bytes.count == 16
        case (.integer, .integer64), (.boolean, .boolean), (.double, .double), (.double, .float), (.date, .date),
            (.decimal, .decimal), (.string, .string), (.uri, .uri), (.binary, .binary),
            (.transformable, .transformable):
            true
        default: false
        }
    }
}

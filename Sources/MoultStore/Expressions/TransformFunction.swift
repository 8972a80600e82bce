import MoultBasics
import MoultModel
import MoultSQLite

/// A mapping's closure as an SQL function: `moult_transform_0(key, argument, …)`.
///
/// The function is called once per row, inside the statement that copies the row. It reads its arguments directly from
/// SQLite's memory; their kinds are known beforehand.
package struct TransformFunction: Sendable, Equatable {
    let name: String
    let transform: ValueTransform
    /// The attribute that receives the result.
    let attribute: AttributeDescription
    /// The entity of the attribute, followed by the entity of the source rows.
    let entity: String
    let sourceEntity: String
    let arguments: [Argument]

    struct Argument: Sendable, Hashable {
        let kind: ValueKind
        /// Whether the argument is a transformable or external value, whose bytes are the value.
        let isBytes: Bool
        /// The printed form, for errors.
        let format: String
    }

    var function: SQLiteFunction {
        let call = TransformCall(self)
        return SQLiteFunction(name, argumentCount: Int32(arguments.count + 1), isDeterministic: false) { row in
            try call.result(row)
        }
    }

    /// - Parameter values: the arguments, which the error describes only by kind.
    fileprivate func failure(_ error: any Error, _ values: [AttributeValue?], _ key: Int64) -> MigrationError {
        let reason =
            (error as? TransformFault)?.message ?? (error as? MigrationError)?.message
            ?? "it threw \(type(of: error))"
        let given = zip(arguments, values).map { "\($0.format): \($1?.kindPhrase ?? "nil")" }.joined(separator: ", ")
        return MigrationError(
            .policyFailed,
            "The closure \(transform.name) for \(entity).\(attribute.name) failed at \(sourceEntity) \(key) "
                + "(\(given)): \(reason)", place: "\(entity).\(attribute.name)",
            remedy: "Correct the closure or the value. The store is unchanged.",
            cause: error is TransformFault ? nil : "\(error)")
    }
}

/// The reason why a closure's result was rejected.
private struct TransformFault: Error {
    let message: String
}

/// A closure prepared for calls on many rows.
private final class TransformCall: Sendable {
    private let function: TransformFunction
    // Copied from the function because every row needs it.
    private let call: @Sendable (any TransformArguments) throws -> AttributeValue?
    private let type: AttributeType
    fileprivate let arguments: [(kind: ValueKind, isBytes: Bool)]
    fileprivate let areTexts: [Bool]

    init(_ function: TransformFunction) {
        self.function = function
        call = function.transform.call
        type = function.attribute.type
        arguments = function.arguments.map { ($0.kind, $0.isBytes) }
        areTexts = function.arguments.map { $0.kind == .string }
    }

    func result(_ row: SQLiteArguments) throws -> SQLiteValue {
        let given = RowArguments(row: row, call: .passUnretained(self))
        do {
            switch try call(given) {
            case nil: return try nothing()
            // Fast path: most closures for a string attribute return a text.
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
                message: "it returned \(value.kindPhrase), and \(function.attribute.name) is \(type.name)")
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
            remedy: MigrationError.damagedStoreRemedy)
    }
}

/// An argument whose storage class does not match its kind.
private struct ArgumentFault: Error {
    let position: Int
}

/// The arguments in the current row, whose first value is its key. The type owns no memory, so creating one per row
/// costs nothing; it is valid only during the call.
private struct RowArguments: TransformArguments {
    let row: SQLiteArguments
    let call: Unmanaged<TransformCall>

    func text(_ position: Int) -> String? {
        guard call._withUnsafeGuaranteedRef({ $0.areTexts[position] }) else { return nil }
        // Leave room for an append, the most common operation in closures.
        return row.cell(position + 1).ownText(room: 32)
    }

    func value(_ position: Int) throws -> AttributeValue? {
        let cell = row.cell(position + 1)
        let argument = call._withUnsafeGuaranteedRef { $0.arguments[position] }
        switch (argument.kind, cell.storageClass) {
        case (_, .null): return nil
        case (.string, .text): return cell.text.map(AttributeValue.string)
        case (.integer, .integer), (.number, .integer): return .integer(cell.integer)
        case (.real, .real), (.real, .integer), (.number, .real): return .double(cell.real)
        case (.boolean, .integer): return .boolean(cell.integer != 0)
        case (.date, .real), (.date, .integer): return .date(cell.real)
        case (.decimal, .integer): return .decimal(String(cell.integer))
        case (.decimal, .real):
            let digits = cell.real.description
            return .decimal(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
        case (.decimal, .text): return cell.text.map(AttributeValue.decimal)
        case (.uri, .text): return cell.text.map(AttributeValue.uri)
        case (.uuid, .blob): return .uuid(cell.bytes)
        case (.data, .blob), (.opaque, .blob):
            return argument.isBytes ? .transformable(cell.bytes) : .binary(cell.bytes)
        default: throw ArgumentFault(position: position)
        }
    }

    var all: [AttributeValue?] {
        get throws { try call._withUnsafeGuaranteedRef { try $0.arguments.indices.map(value) } }
    }
}

extension AttributeValue {
    /// Returns whether an attribute of the type can hold the value unchanged.
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

/// The closures that one attribute's expression may call, and the calls lowered so far.
final class TransformCalls {
    /// The closures, by the name used in expressions.
    let available: [String: ValueTransform]
    let attribute: AttributeDescription
    private let entity: String
    private let sourceEntity: String
    /// The prefix of the function names, unique to this expression in the script.
    private let prefix: String
    private(set) var functions: [TransformFunction] = []

    init(
        _ available: [ValueTransform], for attribute: AttributeDescription, of entity: String,
        from sourceEntity: String, prefix: String
    ) {
        self.available = Dictionary(available.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        (self.attribute, self.entity, self.sourceEntity, self.prefix) = (attribute, entity, sourceEntity, prefix)
    }

    /// Records a call and returns the name of the function that makes it.
    func call(_ transform: ValueTransform, _ arguments: [TransformFunction.Argument]) -> String {
        let name = "\(prefix)_\(functions.count)"
        functions.append(
            TransformFunction(
                name: name, transform: transform, attribute: attribute, entity: entity, sourceEntity: sourceEntity,
                arguments: arguments))
        return name
    }
}

extension FormatLowering {
    /// Lowers `FUNCTION($entityPolicy, "fullName", $source.first, $source.last)`.
    func transform(_ selector: String, _ arguments: [Expression], in expression: Expression) throws -> Lowered {
        guard let transforms, let transform = transforms.available[selector] else {
            throw refuse(expression.format, "the mapping has no closure of that name")
        }
        var list: SQLText = ""
        var described: [TransformFunction.Argument] = []
        for argument in arguments {
            let value = try transformArgument(argument, in: expression)
            described.append(
                .init(kind: value.kind, isBytes: value.attribute?.type == .transformable, format: argument.format))
            list += ", \(value.exact ?? value.sql)"
        }
        let attribute = transforms.attribute
        let name = transforms.call(transform, described)
        return .value(
            LoweredValue(
                sql: "\(name: name)(\(evaluated.key)\(list))", kind: ValueKind(attribute.type) ?? .opaque,
                attribute: attribute))
    }

    private func transformArgument(_ argument: Expression, in expression: Expression) throws -> LoweredValue {
        let lowered = try lower(argument)
        guard case .value(var value) = lowered, value.kind == .opaque, let attribute = value.attribute else {
            return try single(lowered, in: expression)
        }
        if attribute.allowsExternalBinaryDataStorage {
            value.sql = "moult_inline(\(value.sql))"
            value.attribute?.allowsExternalBinaryDataStorage = false
        }
        return value
    }
}

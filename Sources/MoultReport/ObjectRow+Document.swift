import MoultModel
import MoultPropertyList
import MoultStore

extension ObjectRow {
    /// One line of `dump`: `{"entity","pk","values":{property:value}}`, keys in byte order.
    package var document: JSONValue {
        let members = zip(shape.properties.withoutRepetition, values).map { JSONValue.Member($0, $1.readable) }
        return ["entity": .string(entityName), "pk": .integer(primaryKey), "values": .object(members)]
    }

    /// The object for a person: its name, then a property a line.
    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(""), .left("")])
        for (name, value) in zip(shape.properties.withoutRepetition, values) { table.add("  " + name, value.text) }
        return [style.bold("\(entityName.printable) \(primaryKey)")] + table.lines(style: style)
    }
}

extension PropertyValue {
    package var document: JSONValue {
        switch self {
        case .attribute(let value): value?.document ?? .null
        case .toOne(let reference): reference?.document ?? .null
        case .toMany(let references): .array(references.map(\.document))
        case .undecodable(let value): ["error": .string(value.reason), "base64": .string(value.bytes.base64)]
        }
    }

    /// As ``document``, with bytes as the document that they hold.
    fileprivate var readable: JSONValue { readableBytes ?? document }

    private var readableBytes: JSONValue? {
        switch self {
        case .attribute(.binary(let bytes)?): ReadableData.document(of: bytes, usual: .json)
        case .attribute(.transformable(let bytes)?): ReadableData.document(of: bytes, usual: .archive)
        default: nil
        }
    }

    fileprivate var text: String {
        if let document = readableBytes { return document.compact }
        return switch self {
        case .attribute(nil), .toOne(nil): "nil"
        case .attribute(.binary(let bytes)?), .attribute(.transformable(let bytes)?): Quantity.bytes(bytes.count)
        case .attribute(let value?): value.document.string ?? value.document.compact
        case .toOne(let reference?): "\(reference.entityName) \(reference.primaryKey)"
        case .toMany(let references):
            references.prefix(8).map { "\($0.entityName) \($0.primaryKey)" }.joined(separator: ", ")
                + (references.count > 8 ? ", … (\(references.count))" : "")
        case .undecodable(let value): "not readable: \(value.reason)"
        }
    }
}

extension ObjectReference {
    package var document: JSONValue { ["entity": .string(entityName), "pk": .integer(primaryKey)] }
}

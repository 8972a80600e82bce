import Foundation
import MoultBasics
import Synchronization

/// A conversion of the values of a transformable attribute to bytes and back: `ValueTransformer`.
public protocol AttributeTransformer<Value>: Sendable {
    associatedtype Value
    func data(from value: Value) throws -> Data
    func value(from data: Data) throws -> Value
}

/// Keeps any `Codable` value as JSON.
public struct JSONAttributeTransformer<Value: Codable & Sendable>: AttributeTransformer {
    /// A transformer for values of the type.
    public init(_ type: Value.Type = Value.self) {}

    /// The value as JSON, with its keys sorted so that equal values give equal data.
    ///
    /// - Throws: `EncodingError`.
    public func data(from value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }

    /// The value that the JSON describes.
    ///
    /// - Throws: `DecodingError`.
    public func value(from data: Data) throws -> Value { try JSONDecoder().decode(Value.self, from: data) }
}

struct AnyAttributeTransformer: Sendable {
    /// The value, and the attribute's place for an error.
    let encode: @Sendable (Any, String) throws -> Data
    let decode: @Sendable (Data) throws -> Any

    init<Transformer: AttributeTransformer>(_ transformer: Transformer) {
        encode = { value, place in
            guard let value = value as? Transformer.Value else {
                throw MigrationError(
                    .wrongType,
                    "\(place) is kept by a transformer of \(Transformer.Value.self), not of "
                        + "\(type(of: value)).", place: place, remedy: "Give a value of that type.")
            }
            return try transformer.data(from: value)
        }
        decode = { try transformer.value(from: $0) }
    }
}

/// The transformers of a coordinator, by name.
final class TransformerRegistry: Sendable {
    private let transformers = Mutex<[String: AnyAttributeTransformer]>([:])

    func set(_ transformer: some AttributeTransformer, for name: String) {
        transformers.withLock { $0[name] = AnyAttributeTransformer(transformer) }
    }

    func transformer(for name: String) -> AnyAttributeTransformer? { transformers.withLock { $0[name] } }
}

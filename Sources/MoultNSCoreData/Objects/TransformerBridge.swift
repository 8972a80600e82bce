import Foundation
import MoultBasics
public import MoultCoreData
import MoultModel

/// Lets a coordinator use the ``ValueTransformer`` that is registered when a value is asked for.
///
/// Core Data's direction: a transformer makes the data with `transformedValue(_:)`, and the value of it with
/// `reverseTransformedValue(_:)`; a ``NSSecureUnarchiveFromDataTransformer`` the other way round.
struct TransformerBridge: AttributeTransformer {
    let name: String?

    init(_ name: String?) { self.name = name }

    func data(from value: Any) throws -> Data {
        let found = try transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        let made = isReversed ? found.reverseTransformedValue(value) : found.transformedValue(value)
        if let data = made as? Data { return data }
        throw MigrationError(
            .wrongType, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no data of a \(type(of: value)).",
            place: name ?? "", remedy: "Return Data from transformedValue(_:).")
    }

    func value(from data: Data) throws -> Any {
        let found = try transformer()
        let isReversed = found is NSSecureUnarchiveFromDataTransformer
        if let value = isReversed ? found.transformedValue(data) : found.reverseTransformedValue(data) { return value }
        throw MigrationError(
            .wrongType, "The transformer \(name ?? "NSSecureUnarchiveFromData") makes no value of the stored data.",
            place: name ?? "", remedy: "Add the class of the value to allowedTopLevelClasses of the transformer.")
    }

    private func transformer() throws -> ValueTransformer {
        if let found = ValueTransformer.registered(name) { return found }
        throw MigrationError(
            .wrongType, "No transformer named \(name ?? "") is registered.", place: name ?? "",
            remedy: "Call ValueTransformer.setValueTransformer(_:forName:) before values are read.")
    }
}

/// Foundation's class for transformable attributes, which Linux does not have.
public typealias ValueTransformer = MoultCoreData.ValueTransformer
/// The name of a ``ValueTransformer``.
public typealias NSValueTransformerName = MoultCoreData.NSValueTransformerName
/// A transformer that archives values.
public typealias NSSecureUnarchiveFromDataTransformer = MoultCoreData.NSSecureUnarchiveFromDataTransformer

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ExpressionValue {
    /// The value as `CAST(value, "type")` makes it; nil stays nil.
    ///
    /// - Parameter type: the name of one of Foundation's classes: `NSString`, `NSNumber`, `NSDecimalNumber`, `NSDate`
    ///   (of seconds since 2001), `NSData` (of base64), `NSUUID`, `NSURL`, `NSManagedObjectID`.
    /// - Throws: `MigrationError` with code `invalidPredicate` for another type and for a value that cannot become one.
    package func cast(to type: String) throws(MigrationError) -> ExpressionValue {
        if isNull { return .null }
        let result: ExpressionValue? =
            switch type {
            case "NSString": asText.map(ExpressionValue.string)
            case "NSNumber": asNumber
            case "NSDecimalNumber": asDecimal
            case "NSDate": (number ?? text.flatMap(ExpressionNumber.init(digits:))).map { .date($0.double) }
            case "NSData": asData
            case "NSUUID": asUUID
            case "NSURL": text.map(ExpressionValue.uri)
            case "NSManagedObjectID": asObject
            default:
                throw .predicate(
                    "There is no conversion to \(type).",
                    remedy: "Use NSString, NSNumber, NSDecimalNumber, NSDate, NSData, NSUUID or NSURL.")
            }
        guard let result else {
            throw .predicate("\(format) cannot be converted to \(type).", remedy: "Convert another value.")
        }
        return result
    }

    private var asText: String? {
        switch self {
        case .string(let text), .uri(let text), .decimal(let text): text
        case .boolean, .integer: format
        case .real(let number): String(describing: number)
        case .uuid(let bytes): bytes.uuidText
        case .object(let id): "\(id)"
        case .null, .date, .data, .collection: nil
        }
    }

    private var asNumber: ExpressionValue? {
        switch self {
        case .boolean, .integer, .real, .decimal: return self
        case .date(let seconds): return .real(seconds)
        default:
            switch text.flatMap(ExpressionNumber.init(digits:)) {
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case nil: return nil
            }
        }
    }

    private var asDecimal: ExpressionValue? {
        if case .real(let number) = self { return ExactDecimal(String(describing: number)).map { .decimal($0.digits) } }
        if let text { return ExactDecimal(text).map { .decimal($0.digits) } }
        return ExactDecimal(self).map { .decimal($0.digits) }
    }

    private var asData: ExpressionValue? {
        switch self {
        case .data: self
        case .uuid(let bytes): .data(bytes)
        default: text.flatMap { [UInt8](base64: $0) }.map(ExpressionValue.data)
        }
    }

    private var asUUID: ExpressionValue? {
        switch self {
        case .uuid: self
        case .data(let bytes): bytes.count == 16 ? .uuid(bytes) : nil
        default: text.flatMap(UUID.init(uuidString:)).map { .uuid(withUnsafeBytes(of: $0.uuid) { Array($0) }) }
        }
    }

    private var asObject: ExpressionValue? {
        if case .object = self { return self }
        return text.flatMap(ObjectID.init(uri:)).map(ExpressionValue.object)
    }
}

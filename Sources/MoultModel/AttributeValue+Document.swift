extension AttributeValue {
    /// The value as JSON: exact, and the same for the same value on every machine.
    ///
    /// Dates are ISO 8601 in UTC with nine decimals, decimals strings, doubles their shortest round trip (NaN and the
    /// infinities strings), UUIDs upper case, bytes base64.
    package var document: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .boolean(let truth): .bool(truth)
        case .double(let number): .double(number)
        case .decimal(let digits): .string(digits)
        case .string(let text), .uri(let text): .string(text)
        case .date(let seconds): Self.document(ofDate: seconds)
        case .binary(let bytes), .transformable(let bytes): .string(bytes.base64)
        case .uuid(let bytes): Self.document(ofUUID: bytes)
        }
    }

    private static func document(ofDate seconds: Double) -> JSONValue {
        if let text = DateText.text(sinceReferenceDate: seconds) { return .string(text) }
        return ["error": "a date outside the calendar", "base64": .string(Array(seconds.description.utf8).base64)]
    }

    private static func document(ofUUID bytes: [UInt8]) -> JSONValue {
        guard bytes.count == 16 else {
            return ["error": "a UUID that does not have sixteen bytes", "base64": .string(bytes.base64)]
        }
        let digits = Array(bytes.hexadecimal.uppercased())
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return .string(groups.joined(separator: "-"))
    }
}

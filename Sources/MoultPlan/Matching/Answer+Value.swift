import MoultModel

extension Answer {
    /// The value that it gives an attribute; nil if it gives none, or one that is not of the attribute's type.
    package func value(for attribute: AttributeDescription) -> AttributeValue? {
        value.flatMap { AttributeValue(answer: $0, type: attribute.type) }
    }
}

extension AttributeValue {
    /// A value as a person types it. Dates are seconds since 2001-01-01 00:00:00 UTC, as in a model file.
    ///
    /// Nil for a text that is no value of the type, and for a type whose values cannot be typed.
    fileprivate init?(answer text: String, type: AttributeType) {
        switch type {
        case .integer16: self.init(integer: text, Int64(Int16.min)...Int64(Int16.max))
        case .integer32: self.init(integer: text, Int64(Int32.min)...Int64(Int32.max))
        case .integer64: self.init(integer: text, .min ... .max)
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "1": self = .boolean(true)
            case "no", "false", "0": self = .boolean(false)
            default: return nil
            }
        case .double, .float, .date:
            guard let number = Double(text), number.isFinite else { return nil }
            self = type == .date ? .date(number) : .double(number)
        case .decimal:
            // Exact digits, as short as they can be.
            guard text.wholeMatch(of: /-?[0-9]{1,19}(\.[0-9]{1,19})?/) != nil else { return nil }
            self = .decimal(text.shortDecimal)
        case .string: self = .string(text)
        case .uri: self = .uri(text)
        case .uuid:
            let digits = Array(text.filter { $0 != "-" })
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            guard digits.count == 32, bytes.count == 16 else { return nil }
            self = .uuid(bytes)
        case .undefined, .binary, .transformable, .objectID, .composite: return nil
        }
    }

    private init?(integer text: String, _ range: ClosedRange<Int64>) {
        guard let number = Int64(text), range.contains(number) else { return nil }
        self = .integer(number)
    }
}

extension String {
    /// A decimal number without zeros that say nothing.
    fileprivate var shortDecimal: String {
        let isNegative = hasPrefix("-")
        let parts = (isNegative ? dropFirst() : self[...]).split(separator: ".", maxSplits: 1).map(String.init)
        let whole = parts[0].drop { $0 == "0" }
        let fraction = parts.count > 1 ? String(parts[1].reversed().drop { $0 == "0" }.reversed()) : ""
        let digits = (whole.isEmpty ? "0" : String(whole)) + (fraction.isEmpty ? "" : ".\(fraction)")
        return isNegative && digits != "0" ? "-\(digits)" : digits
    }
}

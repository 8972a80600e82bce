import MoultModel

extension AttributeType {
    /// The types that hold every value of this one exactly, one step wider.
    ///
    /// Integer 16 and 32 fit the 24 and 53 bits of a Float and a Double; Integer 64 fits only Decimal's 38 digits. A
    /// Double has no exact Decimal of 38 digits, a Boolean is 0 or 1.
    private var nextWider: [AttributeType] {
        switch self {
        case .boolean: [.integer16]
        case .integer16: [.integer32, .float]
        case .integer32: [.integer64, .double]
        case .integer64: [.decimal]
        case .float: [.double]
        default: []
        }
    }

    /// Whether every value of this type has exactly one equal value of the other, so that nothing is lost. A type
    /// does not widen to itself. Widening of widening is widening.
    package func widens(to other: AttributeType) -> Bool {
        nextWider.contains { $0 == other || $0.widens(to: other) }
    }

    private static let numbers: Set<AttributeType> = [
        .boolean, .integer16, .integer32, .integer64, .decimal, .double, .float,
    ]
    package var isNumber: Bool { Self.numbers.contains(self) }

    /// Whether some values of this type have an equal value of the other: a text that is a number, a number without
    /// fraction.
    package func converts(to other: AttributeType) -> Bool {
        let numbers = Self.numbers
        let texts: Set<AttributeType> = [.string, .uri, .uuid]
        switch self {
        case _ where numbers.contains(self): return numbers.contains(other) || [.string, .date].contains(other)
        case .string: return numbers.union(texts).union([.date, .binary]).contains(other)
        case .uri: return texts.subtracting([.uuid]).contains(other)
        case .uuid: return [.uuid, .string, .binary].contains(other)
        case .date: return numbers.union([.date, .string]).contains(other)
        case .binary: return [.binary, .uuid].contains(other)
        default: return self == other
        }
    }
}

extension AttributeValue {
    /// The equal value of a wider type; the value itself where nothing needs to be converted.
    package func widened(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.boolean(let value), _) where type != .boolean:
            AttributeValue.integer(value ? 1 : 0).widened(to: type)
        case (.integer(let value), .float), (.integer(let value), .double): .double(Double(value))
        case (.integer(let value), .decimal): .decimal(String(value))
        default: self
        }
    }
}

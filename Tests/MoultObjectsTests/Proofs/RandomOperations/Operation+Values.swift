import MoultModel
import MoultObjects

extension Operation {
    private static let texts = ["", "a", "Ann", "ann", "Ünal", "Zoë", "日本", "\u{1F426}", "e\u{301}", "it's", "x\0y"]

    /// A value for an attribute; nil sometimes.
    func value(for type: AttributeType, _ position: Int) -> AttributeValue? {
        let number = numbers[position]
        if number % 7 == 0 { return nil }
        let bits = number / 7
        switch type {
        case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
        case .integer32: return .integer(bits % 3 == 0 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bits % 100))
        case .integer64: return .integer(bits % 5 == 0 ? Int64(bitPattern: bits) : Int64(bits % 1000))
        case .boolean: return .boolean(bits % 2 == 0)
        case .double: return .double(bits % 3 == 0 ? Double(bits % 1000) : Double(bits) / 1e13)
        case .float: return .double(Double(Float(bits % 100_000) / 7))
        case .date: return .date(Double(bits % 1_000_000_000) / (bits % 2 == 0 ? 1 : 1024))
        case .decimal: return .decimal(["0", "12.5", "-0.001", "99999.99", "1000000"][Int(bits % 5)])
        case .string: return .string(Self.texts[Int(bits % UInt64(Self.texts.count))])
        case .uuid: return .uuid(bytes(16, bits))
        // Seldom one that goes to a file of its own.
        case .binary: return .binary(bytes(bits % 150 == 0 ? 120_000 : Int(bits % 40), bits))
        case .uri: return .uri("https://example.org/\(bits % 100)")
        default: return nil
        }
    }

    private func bytes(_ count: Int, _ seed: UInt64) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: seed &+ UInt64($0) &* 131) }
    }
}

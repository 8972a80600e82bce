import MoultModel

/// The value of a column as it is stored in a row, without memory of its own.
///
/// The bytes are valid as long as the row, or whatever else holds them.
package enum PlainValue {
    case integer(Int64)
    case boolean(Bool)
    case double(Double)
    case date(Double)
    /// A decimal that the column keeps as a whole number.
    case wholeDecimal(Int64)
    /// A decimal whose digits are the shortest ones of a number that Swift prints without a power of ten.
    case realDecimal(Double)
    /// UTF-8
    case string(UnsafeRawBufferPointer)
    /// UTF-8
    case uri(UnsafeRawBufferPointer)
    case binary(UnsafeRawBufferPointer)
    case uuid(UnsafeRawBufferPointer)
    case transformable(UnsafeRawBufferPointer)
}

extension AttributeValue {
    package init(_ plain: PlainValue) {
        self =
            switch plain {
            case .integer(let number): .integer(number)
            case .boolean(let flag): .boolean(flag)
            case .double(let number): .double(number)
            case .date(let seconds): .date(seconds)
            case .wholeDecimal(let number): .decimal(String(number))
            case .realDecimal(let number): .decimal(number.plainDigits)
            case .string(let bytes): .string(String(decoding: bytes, as: UTF8.self))
            case .uri(let bytes): .uri(String(decoding: bytes, as: UTF8.self))
            case .binary(let bytes): .binary(Array(bytes))
            case .uuid(let bytes): .uuid(Array(bytes))
            case .transformable(let bytes): .transformable(Array(bytes))
            }
    }
}

extension Double {
    /// The shortest digits that make this number, without the `.0` of a whole one.
    fileprivate var plainDigits: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its highest bit set, eight at a time.
    var isASCII: Bool {
        var offset = 0
        while offset + 8 <= count {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            offset += 8
        }
        while offset < count {
            if self[offset] & 0x80 != 0 { return false }
            offset += 1
        }
        return true
    }
}

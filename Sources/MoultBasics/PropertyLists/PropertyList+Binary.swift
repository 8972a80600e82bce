extension PropertyList {
    /// The list as a binary property list (`bplist00`), the same bytes for equal lists.
    ///
    /// Equal strings, numbers, dates and data are written once, as in Foundation; keys are in byte order.
    package var binary: [UInt8] {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(self)
        return BinaryPropertyListWriter.bytes(of: writer.objects)
    }
}

/// Lays out the objects depth first, then writes them with the narrowest references that suffice.
struct BinaryPropertyListWriter {
    /// An object with its references resolved to numbers.
    enum Object {
        case leaf(PropertyList)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    fileprivate var objects: [Object] = []
    private var leaves: [PropertyList: Int] = [:]
    /// Separate tables for strings and references, which are most leaves of an archive and faster to find this way.
    private var strings: [String: Int] = [:]
    private var references: [Int: Int] = [:]

    /// Returns the property list whose root is the first of the objects.
    static func bytes(of objects: [Object]) -> [UInt8] {
        let referenceWidth = Self.width(of: objects.count)
        var output = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(output.count)
            append(object, referenceWidth: referenceWidth, to: &output)
        }
        let table = output.count
        let offsetWidth = Self.width(of: table)
        for offset in offsets { append(offset, width: offsetWidth, to: &output) }
        output += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
        for number in [objects.count, 0, table] { append(number, width: 8, to: &output) }
        return output
    }

    /// Adds a list and returns its object number.
    fileprivate mutating func add(_ list: PropertyList) -> Int {
        let number = objects.count
        switch list {
        case .array(let elements):
            objects.append(.leaf(.null))
            objects[number] = .array(elements.map { add($0) })
        case .dictionary(let entries):
            objects.append(.leaf(.null))
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let keys = sorted.map { add($0.key) }
            objects[number] = .dictionary(keys: keys, values: sorted.map { add($0.value) })
        case .string(let text): return add(text)
        case .uid(let index):
            if let known = references[index] { return known }
            references[index] = number
            objects.append(.leaf(list))
        default:
            if let known = leaves[list] { return known }
            leaves[list] = number
            objects.append(.leaf(list))
        }
        return number
    }

    private mutating func add(_ text: String) -> Int {
        if let known = strings[text] { return known }
        strings[text] = objects.count
        objects.append(.leaf(.string(text)))
        return objects.count - 1
    }

    private static func append(_ object: Object, referenceWidth: Int, to output: inout [UInt8]) {
        switch object {
        case .leaf(let value): append(value, to: &output)
        case .array(let elements):
            appendMarker(0xA0, count: elements.count, to: &output)
            for element in elements { append(element, width: referenceWidth, to: &output) }
        case .dictionary(let keys, let values):
            appendMarker(0xD0, count: keys.count, to: &output)
            for reference in keys + values { append(reference, width: referenceWidth, to: &output) }
        }
    }

    private static func append(_ leaf: PropertyList, to output: inout [UInt8]) {
        switch leaf {
        case .boolean(let flag): output.append(flag ? 0x09 : 0x08)
        case .integer(let number): appendInteger(number, to: &output)
        case .unsignedInteger(let number):
            output += [0x14, 0, 0, 0, 0, 0, 0, 0, 0]
            append(number, width: 8, to: &output)
        case .real(let number):
            output.append(0x23)
            append(number.bitPattern, width: 8, to: &output)
        case .date(let seconds):
            output.append(0x33)
            append(seconds.bitPattern, width: 8, to: &output)
        case .data(let bytes):
            appendMarker(0x40, count: bytes.count, to: &output)
            output += bytes
        case .string(let text): appendString(text, to: &output)
        case .uid(let index):
            let width = Self.width(of: index)
            output.append(0x80 | UInt8(width - 1))
            append(index, width: width, to: &output)
        case .null, .array, .dictionary: output.append(0x00)
        }
    }

    private static func appendString(_ text: String, to output: inout [UInt8]) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            appendMarker(0x50, count: text.utf8.count, to: &output)
            output += text.utf8
        } else {
            appendMarker(0x60, count: text.utf16.count, to: &output)
            for unit in text.utf16 { output += [UInt8(unit >> 8), UInt8(unit & 255)] }
        }
    }

    /// Appends an integer. One, two and four bytes are unsigned, so a negative number takes eight.
    private static func appendInteger(_ number: Int64, to output: inout [UInt8]) {
        let width = number < 0 ? 8 : Self.width(of: Int(number))
        output.append(0x10 | UInt8(width.trailingZeroBitCount))
        append(UInt64(bitPattern: number), width: width, to: &output)
    }

    private static func appendMarker(_ marker: UInt8, count: Int, to output: inout [UInt8]) {
        output.append(marker | UInt8(min(count, 15)))
        if count >= 15 { appendInteger(Int64(count), to: &output) }
    }

    /// Returns the smallest of one, two, four and eight bytes that holds the number.
    private static func width(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func append(_ number: Int, width: Int, to output: inout [UInt8]) {
        append(UInt64(bitPattern: Int64(number)), width: width, to: &output)
    }

    /// Appends the last `width` bytes of the number in big-endian order.
    private static func append(_ number: UInt64, width: Int, to output: inout [UInt8]) {
        var shift = UInt64(8 * width)
        while shift > 0 {
            shift -= 8
            output.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// Reads `bplist00`: a header, objects, a table of their offsets, and a trailer of 32 bytes.
///
/// Each object is read once, and the objects of a sound file do not overlap, so the bytes read never exceed the file's
/// length; if they do, the file is hostile. Shared objects can still unfold exponentially, hence the node limit.
struct BinaryPropertyListReader {
    /// Three times the node count of the largest known model.
    private static let nodeLimit = 1 << 22
    /// Six times the depth of the deepest known list. An unoptimised level takes 13 kB of the stack, of which a thread
    /// may have 512 kB.
    private static let depthLimit = 30

    private let bytes: [UInt8]
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int

    /// The objects read so far, by number.
    private var known: [(value: PropertyList, nodes: Int)?]
    private var isActive: [Bool]
    private var bytesLeft: Int

    init(_ bytes: [UInt8]) throws(MigrationError) {
        let trailer = bytes.count - 32
        guard trailer >= 9 else { throw .propertyList("it has \(bytes.count) bytes, too few for a trailer", at: 0) }
        self.bytes = bytes
        bytesLeft = bytes.count
        offsetWidth = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        let count = Self.bigEndian(bytes[(trailer + 8)..<(trailer + 16)])
        let top = Self.bigEndian(bytes[(trailer + 16)..<(trailer + 24)])
        let table = Self.bigEndian(bytes[(trailer + 24)..<(trailer + 32)])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
            throw .propertyList("its trailer has impossible widths", at: trailer + 6)
        }
        guard count > 0, top < count, table >= 8, table < UInt64(trailer),
            count <= (UInt64(trailer) - table) / UInt64(offsetWidth)
        else { throw .propertyList("its offset table does not fit into the file", at: trailer + 8) }
        objectCount = Int(count)
        topObject = Int(top)
        tableOffset = Int(table)
        known = Array(repeating: nil, count: objectCount)
        isActive = Array(repeating: false, count: objectCount)
    }

    mutating func read() throws(MigrationError) -> PropertyList {
        try object(topObject, referredAt: bytes.count - 16, depth: 0).value
    }

    /// Reads only the value below the keys of nested dictionaries; nil if there is none.
    mutating func read(below keys: [String]) throws(MigrationError) -> PropertyList? {
        var (index, place) = (topObject, bytes.count - 16)
        for key in keys {
            guard let entry = try entry(of: key, inObject: index, referredAt: place) else { return nil }
            (index, place) = (try reference(at: entry), entry)
        }
        return try object(index, referredAt: place, depth: keys.count).value
    }

    /// Returns the place of the reference to the value of a key; nil if the object is not a dictionary with this key.
    private mutating func entry(
        of key: String, inObject index: Int, referredAt place: Int
    ) throws(MigrationError) -> Int? {
        let offset = try offset(ofObject: index, referredAt: place)
        guard bytes[offset] >> 4 == 0xD else { return nil }
        let references = try contents(unit: 2 * referenceWidth, at: offset)
        let half = references.count / 2
        var found: Int?
        for place in stride(from: references.startIndex, to: references.startIndex + half, by: referenceWidth) {
            let name = try object(reference(at: place), referredAt: place, depth: 1).value
            // Of two equal keys, the last one counts, as in a list that is read as a whole.
            if name.string == key { found = place + half }
        }
        return found
    }

    // MARK: Objects

    private mutating func object(
        _ index: Int, referredAt place: Int, depth: Int
    ) throws(MigrationError) -> (value: PropertyList, nodes: Int) {
        guard index < objectCount else { throw .propertyList("there is no object \(index)", at: place) }
        if let known = known[index] { return known }
        guard depth < Self.depthLimit else { throw .propertyList("it is nested too deeply", at: place) }
        guard !isActive[index] else { throw .propertyList("object \(index) contains itself", at: place) }
        isActive[index] = true
        let result = try object(at: offset(ofObject: index, referredAt: place), depth: depth)
        isActive[index] = false
        known[index] = result
        return result
    }

    private func offset(ofObject index: Int, referredAt place: Int) throws(MigrationError) -> Int {
        guard index < objectCount else { throw .propertyList("there is no object \(index)", at: place) }
        let entry = tableOffset + index * offsetWidth
        let offset = Self.bigEndian(bytes[entry..<(entry + offsetWidth)])
        guard offset >= 8, offset < UInt64(tableOffset) else {
            throw .propertyList("object \(index) is outside the file", at: entry)
        }
        return Int(offset)
    }

    private mutating func object(
        at offset: Int, depth: Int
    ) throws(MigrationError) -> (value: PropertyList, nodes: Int) {
        let marker = bytes[offset]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0x0: return (try simple(marker, at: offset), 1)
        case 0x1: return (try integer(take(1, of: low < 5 ? 1 << low : -1, after: offset)), 1)
        case 0x2: return (.real(try real(take(1, of: low < 4 ? 1 << low : -1, after: offset), at: offset)), 1)
        case 0x3: return (.date(try real(take(1, of: 8, after: offset), at: offset)), 1)
        case 0x4: return (.data(Array(try contents(unit: 1, at: offset))), 1)
        case 0x5: return (.string(String(decoding: try contents(unit: 1, at: offset), as: UTF8.self)), 1)
        case 0x6: return (.string(utf16(try contents(unit: 2, at: offset))), 1)
        case 0x8: return (.uid(try uid(take(1, of: low + 1, after: offset), at: offset)), 1)
        case 0xA: return try array(at: offset, depth: depth)
        case 0xD: return try dictionary(at: offset, depth: depth)
        default: throw .propertyList("there is no type 0x\([marker].hexadecimal)", at: offset)
        }
    }

    private func simple(_ marker: UInt8, at offset: Int) throws(MigrationError) -> PropertyList {
        switch marker {
        case 0x00: return .null
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        default: throw .propertyList("there is no type 0x\([marker].hexadecimal)", at: offset)
        }
    }

    private func integer(_ digits: ArraySlice<UInt8>) throws(MigrationError) -> PropertyList {
        // Up to four bytes are unsigned, and eight are signed; sixteen hold values that do not fit into eight.
        let number = Self.bigEndian(digits.suffix(8))
        guard digits.count == 16 else { return .integer(Int64(bitPattern: number)) }
        switch Self.bigEndian(digits.prefix(8)) {
        case 0: return Int64(exactly: number).map(PropertyList.integer) ?? .unsignedInteger(number)
        case .max where number >> 63 == 1: return .integer(Int64(bitPattern: number))
        default: throw .propertyList("an integer does not fit into 64 bits", at: digits.startIndex)
        }
    }

    private func real(_ digits: ArraySlice<UInt8>, at offset: Int) throws(MigrationError) -> Double {
        let bits = Self.bigEndian(digits)
        switch digits.count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw .propertyList("a real has \(digits.count) bytes", at: offset)
        }
    }

    private func uid(_ digits: ArraySlice<UInt8>, at offset: Int) throws(MigrationError) -> Int {
        guard digits.count <= 8, let index = Int(exactly: Self.bigEndian(digits)) else {
            throw .propertyList("a reference does not fit into 64 bits", at: offset)
        }
        return index
    }

    private func utf16(_ units: ArraySlice<UInt8>) -> String {
        let codes = stride(from: units.startIndex, to: units.endIndex, by: 2).map {
            UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
        }
        return String(decoding: codes, as: UTF16.self)
    }

    private mutating func array(
        at offset: Int, depth: Int
    ) throws(MigrationError) -> (value: PropertyList, nodes: Int) {
        let references = try contents(unit: referenceWidth, at: offset)
        var elements: [PropertyList] = []
        var nodes = 1
        elements.reserveCapacity(references.count / referenceWidth)
        for place in stride(from: references.startIndex, to: references.endIndex, by: referenceWidth) {
            elements.append(try referred(at: place, depth: depth, nodes: &nodes))
        }
        return (.array(elements), nodes)
    }

    private mutating func dictionary(
        at offset: Int, depth: Int
    ) throws(MigrationError) -> (value: PropertyList, nodes: Int) {
        let references = try contents(unit: 2 * referenceWidth, at: offset)
        let half = references.count / 2
        var entries: [String: PropertyList] = [:]
        entries.reserveCapacity(half / referenceWidth)
        var nodes = 1
        for place in stride(from: references.startIndex, to: references.startIndex + half, by: referenceWidth) {
            guard case .string(let key) = try referred(at: place, depth: depth, nodes: &nodes) else {
                throw .propertyList("a key of a dictionary is not a string", at: place)
            }
            entries[key] = try referred(at: place + half, depth: depth, nodes: &nodes)
        }
        return (.dictionary(entries), nodes)
    }

    private mutating func referred(at place: Int, depth: Int, nodes: inout Int) throws(MigrationError) -> PropertyList {
        let object = try object(reference(at: place), referredAt: place, depth: depth + 1)
        nodes += object.nodes
        guard nodes <= Self.nodeLimit else { throw .propertyList("it expands to too many values", at: place) }
        return object.value
    }

    private func reference(at place: Int) throws(MigrationError) -> Int {
        guard let index = Int(exactly: Self.bigEndian(bytes[place..<(place + referenceWidth)])) else {
            throw .propertyList("a reference does not fit into 64 bits", at: place)
        }
        return index
    }

    // MARK: Bytes

    /// Returns the bytes of a counted object. The count is in the marker, or in an integer after it.
    private mutating func contents(unit: Int, at offset: Int) throws(MigrationError) -> ArraySlice<UInt8> {
        let low = Int(bytes[offset] & 15)
        if low < 15 { return try take(low, of: unit, after: offset) }
        guard offset + 1 < tableOffset, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 15 < 4 else {
            throw .propertyList("a count is not an integer", at: offset + 1)
        }
        let digits = try take(1, of: 1 << Int(bytes[offset + 1] & 15), after: offset + 1)
        guard let count = Int(exactly: Self.bigEndian(digits)), count <= bytes.count else {
            throw .propertyList("a count exceeds the file", at: offset + 1)
        }
        return try take(count, of: unit, after: digits.endIndex - 1)
    }

    /// Returns the `count * unit` bytes after the byte at `offset`, which must be before the offset table.
    private mutating func take(
        _ count: Int, of unit: Int, after offset: Int
    ) throws(MigrationError) -> ArraySlice<UInt8> {
        guard unit > 0 else { throw .propertyList("a number has an impossible width", at: offset) }
        // Each factor is at most the file's length or sixteen, so the product cannot overflow.
        let length = count * unit
        guard length < tableOffset - offset else {
            throw .propertyList("an object extends beyond the file", at: offset)
        }
        bytesLeft -= length + 1
        guard bytesLeft >= 0 else { throw .propertyList("objects overlap", at: offset) }
        return bytes[(offset + 1)..<(offset + 1 + length)]
    }

    /// Returns the number in the last eight bytes.
    private static func bigEndian(_ digits: ArraySlice<UInt8>) -> UInt64 {
        var number: UInt64 = 0
        for digit in digits { number = number << 8 | UInt64(digit) }
        return number
    }
}

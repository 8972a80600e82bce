// Numbers as SQLite writes them, big end first (the SQLite file format, section 1.6). Nothing outside of the bytes is
// read.

extension Array where Element == UInt8 {
    func number16(_ place: Int) -> Int? {
        guard place >= 0, count - place >= 2 else { return nil }
        return Int(self[place]) << 8 | Int(self[place + 1])
    }

    func number32(_ place: Int) -> Int? {
        guard place >= 0, count - place >= 4 else { return nil }
        return self[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An integer of one to nine bytes, seven bits in each but the ninth; moves the place behind it.
    ///
    /// - Parameter end: no byte from here on is read.
    func varint(_ place: inout Int, before end: Int) -> Int64? {
        var value: UInt64 = 0
        let end = Swift.min(end, count)
        guard place >= 0 else { return nil }
        for length in 1...9 {
            guard place < end else { return nil }
            let byte = self[place]
            place += 1
            if length == 9 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}

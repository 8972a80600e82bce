import MoultModel

/// Reads the bytes of an optimised model in order; every step is checked.
struct OptimisedModelCursor {
    let bytes: [UInt8]
    /// In bytes from the start of the file; never negative.
    var position: Int

    /// Between sections.
    static let filler = 0xEFBE_ADDE
    /// Before and after an entity.
    static let entityMark = 0xDAED_FEEB

    mutating func align(to width: Int) { position += (width - position % width) % width }

    mutating func skip(_ count: Int) throws { _ = try take(count) }

    mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard position <= bytes.count, count <= bytes.count - position else {
            throw refused("it ends before its parts")
        }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Four bytes, at a multiple of four.
    mutating func word() throws -> Int {
        align(to: 4)
        return try unalignedWord()
    }

    private mutating func unalignedWord() throws -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }

    /// Eight bytes, at a multiple of eight, that hold a small number.
    mutating func long() throws -> Int {
        align(to: 8)
        guard try word() == 0 else { throw refused("a number is too large", at: position - 4) }
        return try word()
    }

    /// One byte, 0 or 1.
    mutating func flag() throws -> Bool {
        guard let byte = try take(1).first, byte <= 1 else {
            throw refused("a switch is neither on nor off", at: position - 1)
        }
        return byte == 1
    }

    mutating func expectWord(_ expected: Int, _ what: String) throws {
        let found = try word()
        guard found == expected else { throw refused("\(what) is \(found), not \(expected)", at: position - 4) }
    }

    mutating func expectLong(_ expected: Int, _ what: String) throws {
        let found = try long()
        guard found == expected else { throw refused("\(what) is \(found), not \(expected)", at: position - 8) }
    }

    /// A place whose meaning is not known, empty in every file that was looked at.
    mutating func expectEmptyWord(of owner: String) throws {
        guard try word() == 0 else { throw notKnown(owner, at: position - 4) }
    }

    /// As ``expectEmptyWord(of:)``, of eight bytes.
    mutating func expectEmptyLong(of owner: String) throws {
        guard try long() == 0 else { throw notKnown(owner, at: position - 8) }
    }

    /// The two words after a section, after which the next one begins.
    mutating func expectEnd(of section: String, before next: Int) throws {
        for _ in 0..<2 {
            let mark = try unalignedWord()
            guard mark == Self.filler else { throw refused("its \(section) end elsewhere", at: position - 4) }
        }
        guard position == next else { throw refused("its \(section) end elsewhere") }
    }

    func notKnown(_ owner: String, at place: Int? = nil) -> MigrationError {
        refused("\(owner) has parts that Moult does not know", at: place)
    }

    /// - Parameter place: the byte of the file; the present one if nil.
    func refused(_ what: String, at place: Int? = nil) -> MigrationError {
        .modelInvalid(
            "The optimised model cannot be read: \(what).", place: "byte \(place ?? position)",
            remedy: "Give the .mom that the compiler wrote next to it, or the model's source.")
    }
}

import MoultBasics

/// The outer structure of an optimised model: its header, and the numbered texts and data of entities and properties.
struct OptimisedModelSections {
    let layout: OptimisedModelLayout
    let bytes: [UInt8]
    let texts: [String]
    /// The texts in UTF-16: names of entities, default values of strings, and names of value transformers.
    let wideTexts: [String]
    /// The version identifier, then the version hashes of entities and properties.
    let blobs: [[UInt8]]
    /// The number of maps from property names to positions. They are redundant and are not read.
    let mapCount: Int
    let properties: Section
    /// The number of properties of each kind.
    let kinds: [Int]
    let entities: Section
    /// The offset of the fetch request templates; a readable file has none.
    let requestsOffset: Int
    let modelOffset: Int
    let fetchIndexCount: Int

    struct Section {
        var offset: Int
        var count: Int
    }

    init(_ bytes: [UInt8]) throws {
        let begin = OptimisedModelCursor(bytes: bytes, position: 0)
        guard let layout = OptimisedModelLayout.known.first(where: { bytes.starts(with: $0.signature) }) else {
            throw begin.refused("it was written by a compiler that Moult does not know")
        }
        var header = OptimisedModelCursor(bytes: bytes, position: layout.signature.count)
        func section() throws -> Section { Section(offset: try header.word(), count: try header.word()) }
        self.layout = layout
        self.bytes = bytes
        modelOffset = try header.word()
        entities = try section()
        properties = try section()
        kinds = try (0..<layout.kinds).map { _ in try header.word() }
        let maps = try section()
        let data = try section()
        let wide = try section()
        let narrow = try section()
        requestsOffset = try header.word()
        try header.expectEmptyWord(of: "the list of fetch requests")
        try header.expectEmptyWord(of: "the header")
        let hasIndexes = layout.lists == .indexesAndConstraints
        fetchIndexCount = hasIndexes ? try header.word() : 0
        if hasIndexes { try header.expectWord(fetchIndexCount, "the number of indexed properties") }
        while header.position < wide.offset { try header.expectWord(OptimisedModelCursor.filler, "the header's end") }

        mapCount = maps.count
        wideTexts = try Self.pool(
            wide, in: bytes, .init(name: "wide texts", alignment: 4, lengthOffset: 0, header: 8, terminator: 0),
            before: narrow.offset
        ).map { units, cursor in
            guard units.count.isMultiple(of: 2) else { throw cursor.refused("a wide text has half a character") }
            let pairs = stride(from: units.startIndex, to: units.endIndex, by: 2)
            guard
                let text = String(
                    validating: pairs.map { UInt16(units[$0]) | UInt16(units[$0 + 1]) << 8 }, as: UTF16.self)
            else { throw cursor.refused("a wide text is not UTF-16") }
            return text
        }
        texts = try Self.pool(
            narrow, in: bytes, .init(name: "texts", alignment: 8, lengthOffset: 12, header: 24, terminator: 1),
            before: data.offset
        ).map { units, cursor in
            guard let text = String(validating: units, as: UTF8.self) else {
                throw cursor.refused("a text is not UTF-8")
            }
            return text
        }
        blobs = try Self.pool(
            data, in: bytes, .init(name: "data", alignment: 8, lengthOffset: 16, header: 24, terminator: 0),
            before: maps.offset
        ).map { bytes, _ in Array(bytes) }
        try Self.checkMaps(maps, in: bytes, before: properties.offset)
    }

    /// The layout of a pool's entries.
    private struct PoolForm {
        let name: String
        /// The alignment of each entry.
        let alignment: Int
        /// The offset of an entry's length in bytes within its header; the rest of the header is empty.
        let lengthOffset: Int
        let header: Int
        /// The number of bytes after an entry that its length does not include.
        let terminator: Int
    }

    private static func pool(
        _ section: Section, in bytes: [UInt8], _ form: PoolForm, before next: Int
    ) throws -> [(ArraySlice<UInt8>, OptimisedModelCursor)] {
        var cursor = OptimisedModelCursor(bytes: bytes, position: section.offset)
        try cursor.expectWord(section.count, "the number of \(form.name)")
        var entries: [(ArraySlice<UInt8>, OptimisedModelCursor)] = []
        for _ in 0..<section.count {
            cursor.align(to: form.alignment)
            for offset in stride(from: 0, to: form.lengthOffset, by: 4) {
                try cursor.expectWord(0, "the header of one of its \(form.name) at \(offset)")
            }
            let length = try cursor.word()
            try cursor.skip(form.header - form.lengthOffset - 4)
            entries.append((try cursor.take(length), cursor))
            try cursor.skip(form.terminator)
        }
        try cursor.expectEnd(of: form.name, before: next)
        return entries
    }

    private static func checkMaps(_ maps: Section, in bytes: [UInt8], before next: Int) throws {
        var cursor = OptimisedModelCursor(bytes: bytes, position: maps.offset)
        try cursor.expectWord(maps.count, "the number of maps")
        guard next - 8 >= cursor.position else { throw cursor.refused("its maps end elsewhere") }
        cursor.position = next - 8
        try cursor.expectEnd(of: "maps", before: next)
    }

    /// Returns an entry of a pool by number.
    func entry<Entry>(_ number: Int, of pool: [Entry], at cursor: OptimisedModelCursor) throws -> Entry {
        guard pool.indices.contains(number) else {
            throw cursor.refused("number \(number) of \(pool.count) is named", at: cursor.position - 4)
        }
        return pool[number]
    }
}

/// Reads the bytes of an optimised model in order; every step is checked.
struct OptimisedModelCursor {
    let bytes: [UInt8]
    /// The position in bytes from the start of the file; never negative.
    var position: Int

    /// The mark between sections.
    static let filler = 0xEFBE_ADDE
    /// The mark before and after an entity.
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

    /// Reads four bytes, aligned to four.
    mutating func word() throws -> Int {
        align(to: 4)
        return try unalignedWord()
    }

    private mutating func unalignedWord() throws -> Int { try take(4).reduce(0) { $0 << 8 | Int($1) } }

    /// Reads eight bytes, aligned to eight, that contain a small number.
    mutating func long() throws -> Int {
        align(to: 8)
        guard try word() == 0 else { throw refused("a number is too large", at: position - 4) }
        return try word()
    }

    /// Reads one byte, 0 or 1.
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

    /// Reads four bytes of unknown meaning, which are empty in every known file.
    mutating func expectEmptyWord(of owner: String) throws {
        guard try word() == 0 else { throw notKnown(owner, at: position - 4) }
    }

    /// Reads eight such bytes; see ``expectEmptyWord(of:)``.
    mutating func expectEmptyLong(of owner: String) throws {
        guard try long() == 0 else { throw notKnown(owner, at: position - 8) }
    }

    /// Reads the two words after a section, and checks that the next section begins there.
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

    /// - Parameter place: the offset of the byte in the file; nil for the current position.
    func refused(_ what: String, at place: Int? = nil) -> MigrationError {
        .modelInvalid(
            "The optimised model cannot be read: \(what).", place: "byte \(place ?? position)",
            remedy: "Give the .mom that the compiler wrote next to it, or the model's source.")
    }
}

import MoultObjects

/// Stand-ins for a set of texts. A stand-in has the same length and the same kinds of characters as its original,
/// stand-ins sort in the same order, and no two are equal.
///
/// The texts form a tree of their characters. The characters that follow a common prefix are replaced by other
/// characters of their class, in the same order; after the prefix that a text shares with others, the choice is free. A
/// stand-in that contains an original text is made again without regard to the order.
struct TextStandIns {
    private(set) var standIns: [[UInt8]: [UInt8]] = [:]
    /// The number of stand-ins that are not in the order of their originals.
    private(set) var unordered = 0

    private let originals: OriginalTexts
    private let isAllowed: ([UInt8]) -> Bool
    private var used: Set<[UInt8]>
    private var generator: SeededGenerator
    private var classes = CharacterClass()

    /// A stand-in in progress.
    private struct Draft {
        let original: [UInt8]
        let units: [UInt32]
        var new: [UInt32]
        /// Whether each unit stays as it is.
        let stays: [Bool]

        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            for unit in new { CharacterClass.append(unit, to: &bytes) }
            return bytes
        }
    }

    /// - Parameters:
    ///   - originals: the texts that no stand-in may contain.
    ///   - reserved: texts that are already in use.
    ///   - beginning: a character; texts stay as they are up to it.
    ///   - isAllowed: whether a text may be a stand-in.
    init(
        _ texts: Set<[UInt8]>, besides originals: OriginalTexts, reserved: Set<[UInt8]> = [],
        after beginning: UInt8? = nil, seed: UInt64, where isAllowed: @escaping ([UInt8]) -> Bool = { _ in true }
    ) {
        self.originals = originals
        self.isAllowed = isAllowed
        used = reserved
        generator = SeededGenerator(seed: seed)
        var drafts = texts.map { draft($0, after: beginning) }
        drafts.sort { $0.units.lexicographicallyPrecedes($1.units) }
        assign(&drafts)
    }

    /// Whether any part of a text can be replaced.
    static func hasReplaceable(_ text: [UInt8]) -> Bool {
        var classes = CharacterClass()
        let units = CharacterClass.units(of: text)
        return units.indices.contains { !isEscape(units, $0) && classes.members(of: units[$0]) != nil }
    }

    private mutating func draft(_ text: [UInt8], after beginning: UInt8?) -> Draft {
        let units = CharacterClass.units(of: text)
        let start = beginning.flatMap { units.firstIndex(of: UInt32($0)) } ?? -1
        let stays = units.indices.map { place in
            place <= start || Self.isEscape(units, place) || classes.members(of: units[place]) == nil
        }
        return Draft(original: text, units: units, new: units, stays: stays)
    }

    /// Whether a unit is one of the two digits of an escape such as `%C3`, which must stay intact.
    private static func isEscape(_ units: [UInt32], _ place: Int) -> Bool {
        let percent = UInt32(UInt8(ascii: "%"))
        let isDigit = { (unit: UInt32) in Unicode.Scalar(unit)?.properties.isASCIIHexDigit ?? false }
        guard isDigit(units[place]) else { return false }
        return (place > 0 && units[place - 1] == percent) || (place > 1 && units[place - 2] == percent)
    }

    // MARK: - The tree

    private mutating func assign(_ drafts: inout [Draft]) {
        // Groups of texts with a common prefix. A stack rather than recursion, because the prefix may be long.
        var groups = [(range: drafts.indices, depth: 0)]
        while let (range, depth) = groups.popLast() {
            var rest = range
            if let first = rest.first, drafts[first].units.count == depth {
                finish(&drafts[first], free: depth)
                rest = rest.dropFirst()
            }
            if rest.count == 1 {
                finish(&drafts[rest.lowerBound], free: depth)
            } else if !rest.isEmpty {
                groups += branch(&drafts, rest, depth)
            }
        }
    }

    /// Replaces the characters at a depth, and returns the groups of texts that share one more character.
    private mutating func branch(
        _ drafts: inout [Draft], _ range: Range<Int>, _ depth: Int
    ) -> [(range: Range<Int>, depth: Int)] {
        var groups: [(range: Range<Int>, depth: Int)] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let unit = drafts[start].units[depth]
            var end = start + 1
            while end < range.upperBound, drafts[end].units[depth] == unit { end += 1 }
            groups.append((start..<end, depth + 1))
            start = end
        }
        let free = groups.filter { !drafts[$0.range.lowerBound].stays[depth] }
        let byClass = Dictionary(grouping: free) { classes.members(of: drafts[$0.range.lowerBound].units[depth]) ?? [] }
        for members in byClass.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let siblings = byClass[members] ?? []
            let chosen = choose(siblings.count, of: members, notOnly: drafts[siblings[0].range.lowerBound].units[depth])
            for (group, unit) in zip(siblings, chosen) {
                for place in group.range { drafts[place].new[depth] = unit }
            }
        }
        return groups
    }

    /// Chooses `count` members in ascending order, with equal probability. A single choice differs from the original.
    private mutating func choose(_ count: Int, of members: [UInt32], notOnly original: UInt32) -> [UInt32] {
        let members = count == 1 ? members.filter { $0 != original } : members
        var left = count
        return members.enumerated().compactMap { place, member in
            guard Int.random(in: 0..<(members.count - place), using: &generator) < left else { return nil }
            left -= 1
            return member
        }
    }

    // MARK: - One text

    private mutating func finish(_ draft: inout Draft, free: Int) {
        randomise(&draft, from: free)
        if !settle(&draft, from: free) {
            unordered += 1
            randomise(&draft, from: 0)
            if !settle(&draft, from: 0) {
                // Every other text of this form is in use or an original.
                var tries = 64
                while used.contains(draft.bytes), tries > 0 {
                    randomise(&draft, from: 0)
                    tries -= 1
                }
                if used.contains(draft.bytes) { draft.new = draft.units }
            }
        }
        let bytes = draft.bytes
        used.insert(bytes)
        standIns[draft.original] = bytes
    }

    private mutating func randomise(_ draft: inout Draft, from start: Int) {
        for place in draft.units.indices.dropFirst(start) where !draft.stays[place] { change(&draft, at: place) }
    }

    private mutating func change(_ draft: inout Draft, at place: Int) {
        guard let members = classes.members(of: draft.units[place]) else { return }
        draft.new[place] = members[Int.random(in: members.indices, using: &generator)]
    }

    /// Changes free characters until the text contains no original and may be used; returns false if that fails.
    private mutating func settle(_ draft: inout Draft, from start: Int) -> Bool {
        for _ in 0..<(64 + draft.units.count) {
            let bytes = draft.bytes
            guard let hit = originals.first(in: bytes) else {
                if !used.contains(bytes), isAllowed(bytes) { return true }
                guard let place = free(in: draft, from: start, 0..<draft.units.count) else { return false }
                change(&draft, at: place)
                continue
            }
            guard let place = free(in: draft, from: start, units(of: draft, at: hit)) else { return false }
            change(&draft, at: place)
        }
        return false
    }

    private mutating func free(in draft: Draft, from start: Int, _ range: Range<Int>) -> Int? {
        range.filter { $0 >= start && !draft.stays[$0] }.randomElement(using: &generator)
    }

    /// Returns the units that a range of bytes belongs to.
    private func units(of draft: Draft, at bytes: Range<Int>) -> Range<Int> {
        var (end, first, last) = (0, draft.new.count, 0)
        for (place, unit) in draft.new.enumerated() {
            var encoded: [UInt8] = []
            CharacterClass.append(unit, to: &encoded)
            if end < bytes.upperBound, end + encoded.count > bytes.lowerBound {
                first = min(first, place)
                last = place + 1
            }
            end += encoded.count
        }
        return min(first, last)..<last
    }
}

/// Stand-ins for integers. A stand-in has the same sign and number of digits, stand-ins sort in the same order, and no
/// two are equal.
///
/// The number line is divided at the limits of attribute types, of their precision and of the model; a stand-in stays
/// in its number's part. The numbers from -9 to 9 stay as they are, because they are often counts, flags and enum
/// cases.
struct NumberStandIns {
    private(set) var standIns: [Int64: Int64] = [:]

    /// - Parameters:
    ///   - fixed: further numbers that stay as they are.
    ///   - isAllowed: whether a number may be a stand-in.
    init(_ numbers: Set<Int64>, fixed: Set<Int64>, seed: UInt64, where isAllowed: (Int64) -> Bool) {
        var generator = SeededGenerator(seed: seed)
        let starts = Self.starts(fixed)
        let sorted = numbers.sorted()
        var place = sorted.startIndex
        for (start, next) in zip(starts, starts.dropFirst().map(Optional.some) + [nil]) {
            let first = place
            while place < sorted.endIndex, next.map({ sorted[place] < $0 }) ?? true { place += 1 }
            guard first < place else { continue }
            assign(sorted[first..<place], start, (next ?? .max) - (next == nil ? 0 : 1), &generator, isAllowed)
        }
    }

    /// Assigns the stand-ins of one part, with random gaps between them.
    private mutating func assign(
        _ numbers: ArraySlice<Int64>, _ start: Int64, _ end: Int64, _ generator: inout SeededGenerator,
        _ isAllowed: (Int64) -> Bool
    ) {
        // The number of unused numbers in the part.
        var slack = UInt64(bitPattern: end &- start) - UInt64(numbers.count - 1)
        var next = start
        for (place, number) in numbers.enumerated() {
            let widest = Swift.min(slack, Swift.max(1, slack / UInt64(numbers.count - place + 1) * 2))
            var gap: UInt64 = 0
            for _ in 0..<32 {
                gap = UInt64.random(in: 0...widest, using: &generator)
                let candidate = next &+ Int64(bitPattern: gap)
                if candidate != number, isAllowed(candidate) { break }
            }
            let standIn = next &+ Int64(bitPattern: gap)
            standIns[number] = standIn
            slack -= gap
            next = standIn &+ 1
        }
    }

    /// Returns the first number of each part, ascending.
    private static func starts(_ fixed: Set<Int64>) -> [Int64] {
        var starts: Set<Int64> = [.min]
        var power: Int64 = 10
        while true {
            starts.formUnion([power, -power + 1])
            let (next, isOver) = power.multipliedReportingOverflow(by: 10)
            if isOver { break }
            power = next
        }
        let limits = [Int64(Int16.min), Int64(Int16.max), Int64(Int32.min), Int64(Int32.max), .min, .max]
        let exact: [Int64] = [1 << 24, -1 << 24, 1 << 53, -1 << 53]
        for number in Set(-9...9).union(fixed).union(limits).union(exact) {
            starts.insert(number)
            if number < .max { starts.insert(number + 1) }
        }
        return starts.sorted()
    }
}

import MoultObjects

/// Stand-ins for whole numbers: of as many digits and the same sign, in the same order, each for one.
///
/// The number line is cut where an attribute's range, the precision of a type or a model's limit begins; a number stays
/// in its part. From -9 to 9 numbers stay as they are: they count, switch and stand for cases.
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

    /// Numbers of a part that many digits have leave gaps of any width between them.
    private mutating func assign(
        _ numbers: ArraySlice<Int64>, _ start: Int64, _ end: Int64, _ generator: inout SeededGenerator,
        _ isAllowed: (Int64) -> Bool
    ) {
        // How many numbers of the part are left over.
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

import MoultSQLite

/// The places of an ordered list's members: ascending numbers with gaps, so that inserting a member between two others
/// changes no other row.
enum OrderKeyAllocator {
    /// Returns the places for members in their order.
    ///
    /// As many members as possible keep their places. The others get places in the gaps, or every 1024 after the last.
    /// If a gap is too small, all places are assigned again, from 2048.
    /// - Parameter present: the current place of each member; nil for a new one.
    static func places(for present: [Int64?]) -> [Int64] {
        let kept = longestAscent(present)
        var places: [Int64] = []
        places.reserveCapacity(present.count)
        var before: Int64 = 0
        for position in kept + [present.count] {
            let missing = position - places.count
            let end = position < present.count ? present[position] : nil
            if missing > 0 {
                guard let filled = fill(missing, after: before, before: end, isFirst: places.isEmpty) else {
                    return fresh(present.count)
                }
                places += filled
            }
            if let end {
                places.append(end)
                before = end
            }
        }
        return places
    }

    private static func fresh(_ count: Int) -> [Int64] {
        (0..<count).map { OrderKeys.first &+ OrderKeys.step &* Int64($0) }
    }

    /// Returns evenly spaced places in a gap; nil if it is too small. Without an end, the gap is open.
    private static func fill(_ count: Int, after start: Int64, before end: Int64?, isFirst: Bool) -> [Int64]? {
        guard let end else {
            if isFirst { return fresh(count) }
            let (last, isOver) = start.addingReportingOverflow(OrderKeys.step &* Int64(count))
            return isOver || last < start ? nil : (1...Int64(count)).map { start + OrderKeys.step * $0 }
        }
        let (width, isOver) = end.subtractingReportingOverflow(start)
        guard !isOver, width > Int64(count) else { return nil }
        let (step, rest) = width.quotientAndRemainder(dividingBy: Int64(count) + 1)
        // The remainder is spread over the first places, one each, so that places stay distinct.
        return (1...Int64(count)).map { start + step * $0 + min($0, rest) }
    }

    /// Returns the positions of the longest ascending run of places above zero; the run may skip members.
    private static func longestAscent(_ places: [Int64?]) -> [Int] {
        // For each length, the position of the smallest last place of an ascent; and the predecessor of each position.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: places.count)
        for (position, place) in places.enumerated() {
            guard let place, place > 0 else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if (places[ends[middle]] ?? 0) < place { low = middle + 1 } else { high = middle }
            }
            previous[position] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var ascent: [Int] = []
        var position = ends.last
        while let present = position {
            ascent.append(present)
            position = previous[present]
        }
        return ascent.reversed()
    }
}

/// The last place given in each list of one ordered relationship: 2048 for the first member, then every 1024.
final class OrderKeys {
    static let first: Int64 = 2048
    static let step: Int64 = 1024

    private let query: String
    private let all: String
    private var last: [Int64: Int64] = [:]
    /// Whether the last places of all lists have been read.
    private var isWhole = false
    private let isIndexed: Bool

    /// - Parameter isIndexed: whether an index finds one list without a scan of the table.
    init(table: String, ownerColumn: String, orderColumn: String, isIndexed: Bool) {
        self.isIndexed = isIndexed
        let (owner, order) = (ownerColumn.quotedName, orderColumn.quotedName)
        query = "SELECT max(\(order)) FROM \(table.quotedName) WHERE \(owner) = ?"
        all = "SELECT \(owner), max(\(order)) FROM \(table.quotedName) WHERE \(owner) IS NOT NULL GROUP BY \(owner)"
    }

    /// Returns the place after the last of the owner's list.
    func next(for owner: Int64, _ writer: RowWriter) throws -> Int64 {
        let behind = try last(of: owner, writer) &+ Self.step
        let place = max(behind, Self.first)
        last[owner] = place
        return place
    }

    private func last(of owner: Int64, _ writer: RowWriter) throws -> Int64 {
        if let known = last[owner] { return known }
        if isWhole { return 0 }
        guard isIndexed else {
            isWhole = true
            try writer.connection.forEachRow(all) { last[$0.integer(0)] = $0.integer(1) }
            return last[owner] ?? 0
        }
        let statement = try writer.statement(query)
        try statement.bind(owner, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}

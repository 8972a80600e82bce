import MoultSQLite

/// The last place given in each list of one ordered relationship: 2048 first, then every 1024.
final class ListPlaces {
    static let first: Int64 = 2048
    static let step: Int64 = 1024

    private let query: String
    private let all: String
    private var last: [Int64: Int64] = [:]
    /// Whether the last places of all lists were read.
    private var isWhole = false
    private let isIndexed: Bool

    /// - Parameter isIndexed: whether one list is found without going through the table.
    init(table: String, ownerColumn: String, orderColumn: String, isIndexed: Bool) {
        self.isIndexed = isIndexed
        let (owner, order) = (ownerColumn.quotedName, orderColumn.quotedName)
        query = "SELECT max(\(order)) FROM \(table.quotedName) WHERE \(owner) = ?"
        all = "SELECT \(owner), max(\(order)) FROM \(table.quotedName) WHERE \(owner) IS NOT NULL GROUP BY \(owner)"
    }

    /// The place behind the last of the owner's list.
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

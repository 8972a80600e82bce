import MoultSQLite
import MoultStore
import MoultVerify

/// A part of the verification of a new store that says something by itself; all of them, with a look at the pages, say
/// what ``StoreVerification/verify(_:)`` does.
struct VerificationPiece: Sendable {
    let sentence: String
    /// Calibrated on two slow cores.
    let seconds: Double
    /// `main` is the new store, `source` the old one.
    let check: @Sendable (Connection) throws -> Void

    /// The same ones, in the same order, whenever the same two stores are asked.
    static func all(of verification: StoreVerification, _ connection: Connection) throws -> [VerificationPiece] {
        let plan = verification.plan
        let expectation = MigrationExpectation(plan)
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 })
        var pieces = [
            VerificationPiece(
                sentence: "Verify the tables of the new store.", seconds: 0.01, check: verification.verifyStructure),
            VerificationPiece(sentence: "Count the rows of the new store.", seconds: 0.005 + rows * 0.2e-6) {
                _ = try MigrationVerifier($0, expectation: expectation).verifyCounts()
            },
        ]
        for table in expectation.rows {
            pieces += try comparisons(of: table, expectation, plan, connection)
        }
        pieces += expectation.pairs.map { pairs in
            VerificationPiece(sentence: "Compare the links with those before.", seconds: 0.005 + rows * 0.5e-6) {
                try MigrationVerifier($0, expectation: expectation).verify(pairs)
            }
        }
        pieces.append(
            VerificationPiece(
                sentence: "Verify what the mapping has made.",
                seconds: 0.005 + min(rows, Double(plan.mapping.entityMappings.count) * 2_000) * 2e-5,
                check: verification.verifyMapping))
        return pieces
            + StoreVerifier.RowCheck.allCases.map { check in
                VerificationPiece(
                    sentence: "Verify the \(check.rawValue) of the new store.", seconds: 0.005 + rows * 0.3e-6
                ) { try verification.verify(check, $0) }
            }
    }

    /// Ranges of keys of equal width; how many rows lie in each is the store's business.
    private static func comparisons(
        of rows: MigrationExpectation.Rows, _ expectation: MigrationExpectation, _ plan: BoundPlan,
        _ connection: Connection
    ) throws -> [VerificationPiece] {
        let table = "source.\(rows.sourceTable.quotedName)"
        guard let first = try connection.integer("SELECT min(Z_PK) FROM \(table)"),
            let last = try connection.integer("SELECT max(Z_PK) FROM \(table)")
        else { return [] }
        let count = rows.entities.reduce(0) { $0 &+ plan.rowCounts[$1.sourceName, default: 0] }
        let ranges = (first...last).divided(into: max(1, count / 50_000))
        return ranges.map { range in
            VerificationPiece(
                sentence: "Compare the rows of \(rows.table) with those before.",
                seconds: 0.002 + Double(count) / Double(ranges.count) * 1e-6
            ) {
                try MigrationVerifier($0, expectation: expectation).verify(rows, keys: range)
            }
        }
    }
}

extension ClosedRange<Int64> {
    /// So many ranges of about the same width that hold the same keys, in rising order.
    func divided(into count: Int64) -> [ClosedRange<Int64>] {
        guard count > 1 else { return [self] }
        let width = UInt64(bitPattern: upperBound &- lowerBound) / UInt64(count) &+ 1
        var ranges: [ClosedRange<Int64>] = []
        var first = lowerBound
        while true {
            let left = UInt64(bitPattern: upperBound &- first)
            guard left >= width else { break }
            let last = first &+ Int64(bitPattern: width) &- 1
            ranges.append(first...last)
            first = last &+ 1
        }
        return ranges + [first...upperBound]
    }
}

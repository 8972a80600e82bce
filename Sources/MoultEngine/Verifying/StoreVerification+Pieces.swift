import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// The pieces of a verification: with a look at the pages, everything that is asked of a new store.
extension StoreVerification {
    /// - Parameter connection: to the two stores, where rows are to be compared range by range.
    func pieces(dividedOver connection: Connection?) throws -> [VerificationPiece] {
        let expectation = expectation
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 })
        var pieces = [
            VerificationPiece(
                "Verify the tables of the new store.", seconds: 2 * WorkCost.files,
                check: verifyStructure)
        ]
        for table in expectation.rows {
            pieces += try comparisons(of: table, expectation, connection)
        }
        pieces += expectation.own.map { own in
            VerificationPiece(
                "Compare what an app has added to \(own.table) with that before.",
                seconds: WorkCost.files + rows * WorkCost.comparison
            ) { try MigrationVerifier($0, expectation: expectation).verify(own) }
        }
        pieces.append(
            VerificationPiece(
                "Count the rows of the new store.", seconds: WorkCost.files + rows * WorkCost.question
            ) {
                try MigrationVerifier($0, expectation: expectation).verifyCounts()
            })
        pieces += expectation.pairs.map { pairs in
            VerificationPiece(Self.linksSentence, seconds: WorkCost.files + rows * WorkCost.link) {
                try MigrationVerifier($0, expectation: expectation).verify(pairs)
            }
        }
        pieces.append(
            VerificationPiece(
                "Verify the result of the mapping.",
                seconds: WorkCost.files + min(rows, Double(plan.mapping.entityMappings.count) * 2_000)
                    * WorkCost.object,
                check: verifyMapping))
        let shape = questions.new
        return pieces
            + StoreVerifier.RowCheck.allCases.map { check in
                VerificationPiece(
                    "Verify the \(check.rawValue) of the new store.", seconds: seconds(of: check, shape)
                ) { try verify(check, shape, $0) }
            }
    }

    private static let linksSentence = "Compare the links with those before."

    /// The longest of them, before anybody looks at the copy: a question to all rows.
    var longestPiece: MigrationUnit {
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 })
        guard expectation.pairs.isEmpty else {
            return MigrationUnit(sentence: Self.linksSentence, seconds: WorkCost.files + rows * WorkCost.link)
        }
        let shape = StoreShape(plan.destination, withObjects: false)
        let checks = StoreVerifier.RowCheck.allCases.map { seconds(of: $0, shape) }
        return MigrationUnit(sentence: "Verify the rows of the new store.", seconds: checks.max() ?? 0)
    }

    /// A check goes through the rows of one table for each question that it asks.
    private func seconds(of check: StoreVerifier.RowCheck, _ shape: StoreShape) -> Double {
        let tables = Set(shape.entities.map(\.table)).count
        let questions =
            switch check {
            case .strangers: tables
            case .references: shape.references.count
            case .inverses: shape.oneToOnes.count + shape.reflexives.count
            case .required: shape.required.count
            case .unique: shape.unique.count
            case .external: shape.external.count
            }
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 }) / Double(max(tables, 1))
        return WorkCost.files + Double(questions) * rows * (check == .unique ? WorkCost.sort : WorkCost.question)
    }

    /// Ranges of keys of equal width; how many rows lie in each is the store's business.
    private func comparisons(
        of rows: MigrationExpectation.Rows, _ expectation: MigrationExpectation, _ connection: Connection?
    ) throws -> [VerificationPiece] {
        let table = "source.\(rows.sourceTable.quotedName)"
        let count = rows.entities.reduce(0) { $0 &+ plan.rowCounts[$1.sourceName, default: 0] }
        var ranges: [ClosedRange<Int64>?] = [nil]
        if let connection {
            guard let first = try connection.integer("SELECT min(Z_PK) FROM \(table)"),
                let last = try connection.integer("SELECT max(Z_PK) FROM \(table)")
            else { return [] }
            ranges = (first...last).divided(into: max(1, count / 50_000))
        }
        return ranges.map { range in
            VerificationPiece(
                "Compare the rows of \(rows.table) with those before.",
                seconds: WorkCost.statement + Double(count) / Double(ranges.count) * WorkCost.comparison
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

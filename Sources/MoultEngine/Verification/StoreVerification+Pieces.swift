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
                "Verify the tables of the new store.", seconds: 2 * WorkCost.files, check: verifyStructure)
        ]
        for table in expectation.rows { pieces += try comparisons(of: table, expectation, connection) }
        pieces += expectation.own.map { own in
            VerificationPiece(
                "Compare what an app has added to \(own.table) with that before.",
                seconds: WorkCost.files + rows * WorkCost.comparison
            ) { try MigrationVerifier($0, expectation: expectation).verify(own) }
        }
        pieces.append(
            VerificationPiece("Count the rows of the new store.", seconds: WorkCost.files + rows * WorkCost.question) {
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

/// The verification of the new store of a pass: a list of pieces, run through in one go or one by one, and the pages.
package struct Verification: Sendable {
    /// The pieces in their order, the same ones whenever the same two stores are asked; `isDivided` compares rows range
    /// by range, for a run that may end in between. `main` is the new store, the schema `source` the old one, which is
    /// missing if only the catalogue changes.
    var pieces: @Sendable (_ connection: Connection, _ isDivided: Bool) throws -> [VerificationPiece]
    /// The longest of them; nil where nothing is known of them.
    var longest: MigrationUnit?
    /// Checks the pages of the new store, which the pieces leave out; nil if there is nothing to check.
    var pages: (@Sendable (Connection) throws -> Void)?
    /// The same in a transaction on the store itself, without the tables that the transaction has not written to; nil if
    /// everything is asked there too.
    var ofChanges: (@Sendable (Connection) throws -> Verification)?

    init(_ pieces: @escaping @Sendable (_ connection: Connection, _ isDivided: Bool) throws -> [VerificationPiece]) {
        self.pieces = pieces
    }

    /// One piece that looks at everything.
    package init(_ check: @escaping @Sendable (Connection) throws -> Void) {
        self.init { _, _ in [VerificationPiece("Verify the new store.", check: check)] }
    }

    /// Nothing that could be asked.
    static let none = Verification { _, _ in [] }

    /// Whether the new store is a sound database.
    package static let soundness = Verification { try $0.checkSoundness(place: $0.path) }

    /// Adds a piece that is asked last.
    package mutating func append(_ sentence: String, _ check: @escaping @Sendable (Connection) throws -> Void) {
        pieces = { [pieces] in try pieces($0, $1) + [VerificationPiece(sentence, check: check)] }
        guard let narrower = ofChanges else { return }
        ofChanges = { connection in
            var verification = try narrower(connection)
            verification.append(sentence, check)
            return verification
        }
    }

    /// Asks everything in one go.
    package func run(on connection: Connection) throws {
        // A second connection sees nothing of a transaction that has not ended.
        guard !connection.isInTransaction else {
            let verification = try ofChanges?(connection) ?? self
            try verification.pages?(connection)
            return try verification.runPieces(on: connection)
        }
        guard pages != nil else { return try runPieces(on: connection) }
        // On the other core; both only read.
        let check = BackgroundWork { [path = connection.path] in try checkPages(at: path) }
        let rows = Result { try runPieces(on: connection) }
        // Damaged pages explain whatever else was found.
        try check.wait()
        try rows.get()
    }

    private func runPieces(on connection: Connection) throws {
        for piece in try pieces(connection, false) { try piece.check(connection) }
    }

    /// Checks the pages by a connection of its own, beside the one that others use.
    func checkPages(at path: String) throws {
        guard let pages else { return }
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        try pages(connection)
    }
}

/// A part of a verification that says something by itself.
struct VerificationPiece: Sendable {
    let unit: MigrationUnit
    let check: @Sendable (Connection) throws -> Void

    /// - Parameter seconds: by ``WorkCost``; 0 where nothing is known.
    init(_ sentence: String, seconds: Double = 0, check: @escaping @Sendable (Connection) throws -> Void) {
        unit = MigrationUnit(sentence: sentence, seconds: seconds)
        self.check = check
    }
}

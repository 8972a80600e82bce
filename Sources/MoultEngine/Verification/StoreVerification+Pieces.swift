import MoultSQLite
import MoultStore
import MoultVerify

/// The pieces of a verification. Together with the page check, they are all the checks of a new store.
extension StoreVerification {
    /// - Parameter connection: a connection to both stores, for comparing rows range by range; nil not to.
    func pieces(dividedOver connection: Connection?) throws -> [VerificationPiece] {
        let expectation = expectation
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 })
        var pieces = [
            VerificationPiece("Verify the tables of the new store.", seconds: 2 * CostModel.files, .structure(self))
        ]
        for table in expectation.rows { pieces += try comparisons(of: table, expectation, connection) }
        pieces += expectation.own.map { own in
            VerificationPiece(
                "Compare what an app has added to \(own.table) with that before.",
                seconds: CostModel.files + rows * CostModel.comparison, .own(own, expectation))
        }
        pieces.append(
            VerificationPiece(
                "Count the rows of the new store.", seconds: CostModel.files + rows * CostModel.question,
                .counts(expectation)))
        pieces += expectation.pairs.map { pairs in
            VerificationPiece(
                Self.linksSentence, seconds: CostModel.files + rows * CostModel.link, .pairs(pairs, expectation))
        }
        pieces.append(
            VerificationPiece(
                "Verify the result of the mapping.",
                seconds: CostModel.files + min(rows, Double(plan.mapping.entityMappings.count) * 2_000)
                    * CostModel.object, .mapping(self)))
        let shape = questions.new
        return pieces
            + StoreVerifier.RowCheck.allCases.map { check in
                VerificationPiece(
                    "Verify the \(check.rawValue) of the new store.", seconds: seconds(of: check, shape),
                    .objects(check, shape, self))
            }
    }

    private static let linksSentence = "Compare the links with those before."

    /// The longest piece, estimated before the copy exists: a check of all rows.
    var longestPiece: MigrationUnit {
        let rows = Double(plan.rowCounts.values.reduce(0) { $0 &+ $1 })
        guard expectation.pairs.isEmpty else {
            return MigrationUnit(sentence: Self.linksSentence, seconds: CostModel.files + rows * CostModel.link)
        }
        let shape = StoreShape(plan.destination, withObjects: false)
        let checks = StoreVerifier.RowCheck.allCases.map { seconds(of: $0, shape) }
        return MigrationUnit(sentence: "Verify the rows of the new store.", seconds: checks.max() ?? 0)
    }

    /// Returns the seconds of a check, which reads the rows of one table for each question.
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
        return CostModel.files + Double(questions) * rows * (check == .unique ? CostModel.sort : CostModel.question)
    }

    /// Returns comparisons over key ranges of equal width, however many rows each contains.
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
                seconds: CostModel.statement + Double(count) / Double(ranges.count) * CostModel.comparison,
                .rows(rows, keys: range, expectation))
        }
    }
}

extension ClosedRange<Int64> {
    /// Returns `count` ranges of about equal width that cover the same keys, in ascending order.
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

/// The verification of a pass's new store: a list of pieces, run together or one by one, and the page check.
package struct Verification: Sendable {
    /// The plan that produced the store; nil if only the checks are run.
    private(set) var plan: StoreVerification?
    /// The checks that run last.
    package var checks: [any StoreCheck]
    /// Whether a transaction on the store itself also compares tables that it has not written to.
    var comparesUnwritten = false

    /// Creates the verification of everything that a plan has produced.
    init(of plan: StoreVerification) { (self.plan, checks) = (plan, []) }

    package init(_ checks: any StoreCheck...) { self.checks = checks }

    /// The empty verification.
    package static let none = Verification()

    /// The verification that the new store is a sound database.
    package static let soundness = Verification(SoundnessCheck())

    package static let sentence = "Verify the new store."

    /// Whether a transaction on the store itself skips the tables that it has not written to.
    var narrows: Bool { plan != nil && !comparesUnwritten }

    /// The longest piece; nil if unknown.
    var longest: MigrationUnit? { plan?.longestPiece }

    /// One sentence for each check.
    var sentences: [String] {
        (plan.map { ["Compare \($0.plan.target.name) with the old store."] } ?? []) + checks.map(\.sentence)
    }

    /// Returns the pieces in order, always the same for the same two stores. `main` is the new store, the schema
    /// `source` the old one, which is missing if only the catalogue changes.
    ///
    /// - Parameter isDivided: whether to compare rows range by range, for a run that may end in between.
    func pieces(_ connection: Connection, isDivided: Bool) throws -> [VerificationPiece] {
        try (plan?.pieces(dividedOver: isDivided ? connection : nil) ?? [])
            + checks.map { VerificationPiece($0.sentence, .check($0)) }
    }

    /// Runs the whole verification.
    package func run(on connection: Connection) throws {
        guard let plan else { return try runPieces(on: connection) }
        guard connection.isInTransaction else {
            return try plan.checkingPages(of: connection) { try runPieces(on: connection) }
        }
        // A second connection does not see an open transaction.
        var verification = self
        if narrows { verification.plan?.unwritten = try UnwrittenTables(connection, plan.system) }
        try verification.plan?.verifyPages(connection)
        try verification.runPieces(on: connection)
    }

    private func runPieces(on connection: Connection) throws {
        for piece in try pieces(connection, isDivided: false) { try piece.check(connection) }
    }
}

/// The check that a store is a sound database.
struct SoundnessCheck: StoreCheck {
    var sentence: String { Verification.sentence }

    func check(_ connection: Connection) throws { try connection.checkSoundness(place: connection.path) }
}

/// A part of a verification with a result of its own.
struct VerificationPiece: StoreCheck {
    let unit: MigrationUnit
    let question: Question

    /// The questions that a verification asks.
    indirect enum Question: Sendable {
        case structure(StoreVerification)
        case rows(MigrationExpectation.Rows, keys: ClosedRange<Int64>?, MigrationExpectation)
        case own(MigrationExpectation.Own, MigrationExpectation)
        case counts(MigrationExpectation)
        case pairs(MigrationExpectation.Pairs, MigrationExpectation)
        case mapping(StoreVerification)
        case objects(StoreVerifier.RowCheck, StoreShape, StoreVerification)
        case check(any StoreCheck)
    }

    /// - Parameter seconds: the estimated seconds, by ``CostModel``; 0 if unknown.
    init(_ sentence: String, seconds: Double = 0, _ question: Question) {
        unit = MigrationUnit(sentence: sentence, seconds: seconds)
        self.question = question
    }

    var sentence: String { unit.sentence }

    func check(_ connection: Connection) throws {
        func verifier(_ expectation: MigrationExpectation) -> MigrationVerifier {
            MigrationVerifier(connection, expectation: expectation)
        }
        switch question {
        case .structure(let store): try store.verifyStructure(connection)
        case .rows(let rows, let keys, let expectation): try verifier(expectation).verify(rows, keys: keys)
        case .own(let own, let expectation): try verifier(expectation).verify(own)
        case .counts(let expectation): try verifier(expectation).verifyCounts()
        case .pairs(let pairs, let expectation): try verifier(expectation).verify(pairs)
        case .mapping(let store): try store.verifyMapping(connection)
        case .objects(let check, let shape, let store): try store.verify(check, shape, connection)
        case .check(let check): try check.check(connection)
        }
    }
}

import MoultModel
import MoultSQLite

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

import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify

/// A verification of the store that a plan has produced.
package struct StoreVerification: Sendable {
    let plan: BoundPlan
    private let store: String
    /// The app's own parts of the store that stay.
    private let kept: StoreScript.Kept
    /// Whether code has run, which may have left required values empty; no inferred mapping does.
    private var followsCode: Bool
    let system: any System
    /// The tables that the transaction has not written to; nil to check all.
    var unwritten: UnwrittenTables?

    init(
        _ plan: BoundPlan, store: String, keeping kept: StoreScript.Kept = .init(), followsCode: Bool = true,
        system: any System
    ) {
        (self.plan, self.store, self.kept, self.followsCode, self.system) = (plan, store, kept, followsCode, system)
    }

    /// Verifies the result of this pass's steps: they may change every object but no table, and must leave the store as
    /// sound as they found it.
    func verifySteps(_ connection: Connection, catalogueDigest: [UInt8]) throws {
        guard try StoreSnapshot(connection).catalogueDigest == catalogueDigest else {
            throw failure("The steps have changed the tables.", place: "sqlite_master")
        }
        var afterCode = self
        afterCode.followsCode = true
        try checkingPages(of: connection) {
            try verifyMetadata(connection)
            let shape = StoreShape(plan.destination, withObjects: false)
            for check in StoreVerifier.RowCheck.allCases { try afterCode.verify(check, shape, connection) }
        }
    }

    /// Verifies a store that was changed in place by its catalogue, so that the time does not grow with the rows.
    fileprivate func verifyInPlace(_ connection: Connection) throws {
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: plan.target.model)
        try refuse(layout.noticed.filter { $0.severity == .error })
        var shape = StoreShape(plan.destination, withObjects: false)
        shape.history = StoreShape.history(of: plan.destination)
        try refuse(StoreVerifier(connection, shape: shape).structure())
        try verifyMetadata(connection)
    }

    /// The expected form of the old store's rows in the new store.
    var expectation: MigrationExpectation {
        let all = MigrationExpectation(plan, keeping: kept.definitions.mapValues(\.columns))
        return unwritten?.remaining(of: all) ?? all
    }

    /// The checks of the new store's rows, and the checks of the old store's rows that tell new faults from old ones.
    var questions: (new: StoreShape, old: StoreShape) {
        let new = StoreShape(plan.destination, withObjects: false)
        let old = StoreShape(plan.source, withObjects: false)
        return unwritten?.remaining(of: new, old) ?? (new, old)
    }

    private func verifyMetadata(_ connection: Connection) throws {
        let metadata = try StoreMetadata(from: connection)
        guard metadata.hashes == VersionHashes(read: plan.target.hashes.entities),
            metadata.uuid == plan.binding.storeUUID
        else { throw failure("The new store's metadata does not match \(plan.target.name).", place: "Z_METADATA") }
    }

    // MARK: - In pieces

    func verifyPages(_ connection: Connection) throws {
        let verifier = StoreVerifier(connection, shape: StoreShape(plan.destination, withObjects: false))
        try refuse(verifier.pages(of: unwritten?.written))
    }

    /// Checks the pages on a separate connection, alongside the one that others use.
    func verifyPages(at path: String) throws {
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        try verifyPages(connection)
    }

    /// Checks the pages on another core while `body` checks the rows; both only read.
    func checkingPages(of connection: Connection, beside body: () throws -> Void) throws {
        let check = BackgroundWork { [path = connection.path] in try verifyPages(at: path) }
        let rows = Result { try body() }
        // Damaged pages explain any other fault.
        try check.wait()
        try rows.get()
    }

    func verifyStructure(_ connection: Connection) throws {
        let verifier = StoreVerifier(connection, shape: StoreShape(of: plan, keeping: kept))
        try refuse(verifier.structure() + verifier.surplus(and: Self.tablesOfCoreData))
        try verifyMetadata(connection)
    }

    private static let tablesOfCoreData = Set(StoreSnapshot.coreTables + StoreSnapshot.historyTables)

    func verifyMapping(_ connection: Connection) throws {
        try MappingVerification(plan, connection) { try externalData($0, connection) }.verify()
    }

    func verify(_ check: StoreVerifier.RowCheck, _ shape: StoreShape, _ connection: Connection) throws {
        let found = try StoreVerifier(connection, shape: shape).rows(check) { try externalFileExists($0, connection) }
        try refuseNew(found, by: check, over: connection)
    }

    /// Refuses faults beyond those that the old store had.
    private func refuseNew(
        _ violations: [StoreVerifier.Violation], by check: StoreVerifier.RowCheck, over connection: Connection
    ) throws {
        guard !violations.isEmpty else { return }
        let verifier = StoreVerifier(connection, shape: questions.old, schema: "source", countsStrangers: true)
        let before = try verifier.rows(check) {
            try externalFileExists($0, connection)
        }
        let old = Dictionary(grouping: before, by: \.finding.code).mapValues { $0.reduce(0) { $0 + $1.count } }
        for (code, all) in Dictionary(grouping: violations, by: \.finding.code).sorted(by: { $0.key < $1.key }) {
            guard all.reduce(0, { $0 + $1.count }) > old[code, default: 0] else { continue }
            if followsCode, code == "required-missing" { throw missing(all.map(\.finding)) }
            try refuse(all.map(\.finding))
        }
    }

    private func missing(_ findings: [Finding]) -> MigrationError {
        MigrationError(
            .dataConflict,
            "The code of the migration left out required values. "
                + findings.prefix(5).map(\.message).joined(separator: " "),
            place: findings.first?.place ?? "",
            remedy: "The store is unchanged. Set the values in the code, delete the objects before the change, or give "
                + "the properties default values.")
    }

    private func refuse(_ findings: [Finding]) throws {
        guard let first = findings.first else { return }
        let all = findings.prefix(5).map(\.message).joined(separator: " ")
        throw failure(all, place: first.place)
    }

    private func failure(_ message: String, place: String) -> MigrationError {
        MigrationError(
            .verificationFailed, "The new store failed its verification and was not committed. \(message)",
            place: place, remedy: "The store is unchanged. Report this as a bug, with the plan.")
    }

    private func externalFileExists(_ name: String, _ connection: Connection) throws -> Bool {
        guard Self.isPlainName(name) else { return false }
        return try ExternalStorage(ofWorkingCopy: connection.path, of: store).holds(name, on: system)
    }

    /// Returns the contents of a file, which may be one that an earlier pass has made.
    private func externalData(_ name: String, _ connection: Connection) throws -> [UInt8]? {
        guard Self.isPlainName(name) else { return nil }
        return try ExternalStorage(ofWorkingCopy: connection.path, of: store).contents(of: name, on: system)
    }

    /// Whether a name from the store, which may be hostile, is a plain file name in the folder.
    package static func isPlainName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0)
    }

    package static func strangeFile(_ name: String, _ store: String) -> MigrationError {
        MigrationError(
            .storeCorrupted, "A value refers to a file of external data by an invalid name.", place: store,
            remedy: MigrationError.damagedStoreRemedy, cause: name)
    }
}

/// The verification of a store that was changed in place.
struct CatalogueCheck: StoreCheck {
    let verification: StoreVerification

    var sentence: String { Verification.sentence }

    func check(_ connection: Connection) throws { try verification.verifyInPlace(connection) }
}

import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSQLite
import TestSupport
import Testing

@testable import MoultStore

/// A migrated store must have the catalogue of a fresh store of the target, whatever it came from.
@Suite("The schema after lowering", .enabled(if: Corpus.isAvailable))
struct LoweringSchemaTests {  // tier: long
    @Test func `every inferable pair of every corpus model ends with a fresh store's catalogue`() throws {
        var checked = 0
        var refused = 0
        for bundle in Corpus.paths(where: { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") })
        where Tier.matrix.isAsked || !bundle.contains("@") {
            // Four bundles of the corpus are kept without their versions.
            guard let versions = try? Corpus.versions(bundle).versions, versions.count > 1 else { continue }
            for older in versions.indices {
                // Neighbours in the quick tests, every pair in the matrix tier.
                for newer in versions.indices where Tier.matrix.isAsked ? newer > older : newer == older + 1 {
                    guard let mapping = try Self.inferred(from: versions[older], to: versions[newer]) else {
                        refused += 1
                        continue
                    }
                    try check(
                        mapping, from: versions[older], to: versions[newer], framework: older % 2 == 0 ? 1526 : 641)
                    checked += 1
                }
            }
        }
        print("pairs migrated: \(checked), not inferable without answers: \(refused)")
        #expect(checked > (Corpus.isSmall ? 4 : Tier.matrix.isAsked ? 100 : 10) && refused < checked)
    }

    /// The inferred mapping; nil if it needs an answer.
    private static func inferred(from older: ModelVersion, to newer: ModelVersion) throws -> ResolvedMapping? {
        do {
            return try ResolvedMapping(inferring: older, to: newer)
        } catch  where [MigrationError.Code.cannotInfer, .question].contains(error.code) {
            return nil
        }
    }

    private func check(_ mapping: ResolvedMapping, from: ModelVersion, to: ModelVersion, framework: Int) throws {
        let folder = try ScratchFolder()
        let (store, copy, fresh) = ("\(folder.path)/s.sqlite", "\(folder.path)/c.sqlite", "\(folder.path)/f.sqlite")
        try StoreCreator(from, framework: framework, uuid: "A").make(at: store)
        try StoreCreator(from, framework: framework, uuid: "A").make(at: copy)
        try StoreCreator(to, framework: framework).make(at: fresh)
        let plan = try ReadOnlyStore.read(store) { probe in
            try BoundPlan(
                mapping, from: from, to: to, over: StoreSnapshot(probe.connection), connection: probe.connection)
        }
        let connection = try Connection(copy, mode: .readWrite)
        try connection.attach(store, as: "source", mode: .readOnly)
        let script = try StoreScript(plan)
        for function in script.functions(externalFile: { _ in [] }) { try connection.register(function) }
        for statement in script.statements {
            #expect(statement.contradictions == [])
            do {
                try statement.run(on: connection)
            } catch {
                Issue.record("\(from.name) to \(to.name): \(statement.sql)\n\(error)")
                return
            }
        }
        let expected = try Connection(fresh, mode: .readOnly)
        #expect(
            try Set(connection.catalogue().entries) == Set(expected.catalogue().entries), "\(from.name) to \(to.name)")
        let numbers = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1"
        #expect(try connection.rows(numbers) { $0.row } == expected.rows(numbers) { $0.row })
        let metadata = try StoreMetadata(from: connection)
        #expect(metadata.hashes?.isCompatible(with: to.hashes) == true)
        #expect(metadata.uuid == "A")
    }
}

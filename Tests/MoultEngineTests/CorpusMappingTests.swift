import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Every mapping model of the corpus: read, matched with the versions beside it, and run where it needs no policy.
@Suite("The mapping models of the corpus") struct CorpusMappingTests {  // tier: long
    private struct Case {
        let file: MappingModelFile
        let versions: ModelVersions
        let match: MappingMatch
    }

    /// With the first set of versions of its repository that it fits.
    private static func cases() throws -> [Case] {
        var cases: [Case] = []
        let bundles = Corpus.paths { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }
        var known: [String: ModelVersions] = [:]
        for path in Corpus.paths(where: { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }) {
            guard let file = try? MappingModelFile(contentsOf: path) else { continue }
            for bundle in bundles where repository(of: bundle) == repository(of: path) {
                guard let versions = known[bundle] ?? (try? Corpus.versions(bundle)) else { continue }
                known[bundle] = versions
                let match = try? MappingMatch(of: file.mapping, named: file.name, held: file.versions, in: versions)
                guard let match else { continue }
                cases.append(Case(file: file, versions: versions, match: match))
                break
            }
        }
        return cases
    }

    private static func repository(of path: String) -> Substring? {
        path.dropFirst(Corpus.root?.path.count ?? 0).split(separator: "/").first
    }

    @Test(.enabled(if: Corpus.isWhole)) func `each fits its versions, and runs where it needs no policy`() throws {
        var (fitting, run, values) = (0, 0, 0)
        for item in try Self.cases() {
            fitting += 1
            let (old, new) = (item.versions.versions[item.match.source], item.versions.versions[item.match.destination])
            let policies = Set(item.file.mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName))
            let mapping = try ResolvedMapping(item.file.mapping, from: old.model, to: new.model, policies: policies)
            #expect(Set(mapping.entityMappings.compactMap(\.policy)) == policies, "\(item.file.path)")
            guard policies.isEmpty else { continue }
            run += 1
            values += try migrate(item.file, from: old, to: new)
        }
        print("mapping models: \(fitting) fit versions beside them, \(run) run, \(values) values compared")
        #expect(fitting == 12)
        #expect(run == 3)
        #expect(values > 600)
    }

    /// - Returns: how many values were compared.
    private func migrate(_ file: MappingModelFile, from old: ModelVersion, to new: ModelVersion) throws -> Int {
        let folder = try ScratchFolder()
        let store = folder.path + "/store.sqlite"
        let maker = try StoreCreator(old, experimental: true)
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        try SampleData(seed: 7, count: 12, isHostile: false).fill(writer)
        try writer.finish()
        let before = try WitnessStore(store).objects
        let versions = ModelVersions(versions: [old, new])
        let stage = try RegisteredStage(file.mapping, named: file.name, in: versions)
        let prepared: PreparedMigration
        do {
            prepared = try PreparedMigration(
                store, versions: versions, options: .init(registered: [stage], isExperimental: true))
            _ = try Migrator().run(#require(try prepared.migration()), on: store)
        } catch let error as MigrationError where error.code == .dataConflict {
            // Random rows may miss what becomes required.
            print("\(file.name): \(error.message)")
            return 0
        }
        return expect(try WitnessStore(store).objects, file.mapping, before, new.model)
    }

    /// What the mapping takes from the attribute of a name is as it was; entities that nothing maps are empty.
    private func expect(
        _ after: [String: [Int: WitnessStore.Object]], _ mapping: MappingModel,
        _ before: [String: [Int: WitnessStore.Object]], _ model: ManagedObjectModel
    ) -> Int {
        var count = 0
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.sourceEntityName, let to = entityMapping.destinationEntityName else {
                continue
            }
            let (old, new) = (before[from] ?? [:], after[to] ?? [:])
            #expect(Set(old.keys) == Set(new.keys), "\(from) to \(to)")
            for property in entityMapping.attributeMappings {
                guard case .keyPath(let name, .variable("source"))? = property.valueExpression, !name.contains(".")
                else { continue }
                for (key, object) in old {
                    count += 1
                    #expect(new[key]?[property.name] == object[name], "\(to) \(key) \(property.name)")
                }
            }
        }
        return count
    }
}

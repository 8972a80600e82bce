import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isWhole)) struct ElementsReaderTests {  // tier: long
    /// The witnesses are hashes that Apple's tools wrote for the same entities: stores' metadata and version lists.
    @Test func `every binary model of Xcode 3 is read, with hashes that Apple's tools know`() throws {
        let known = try knownHashes()
        var (models, entities, witnessed) = (0, 0, 0)
        for path in Corpus.paths(where: { $0.hasSuffix(".xcdatamodel/elements") }) {
            var findings: [Finding] = []
            let model = try ManagedObjectModel(
                elements: Array(Data(contentsOf: URL(fileURLWithPath: path))), findings: &findings)
            #expect(findings.isEmpty, "\(path): \(findings)")
            #expect(!model.entities.isEmpty, "\(path)")
            let hashes = VersionHashes(of: model).entities
            models += 1
            entities += hashes.count
            witnessed += hashes.filter { known[$0.key]?.contains($0.value) == true }.count
        }
        print("\(models) binary models of Xcode 3 read: \(entities) entities, \(witnessed) with a known hash")
        #expect(models >= 31)
        #expect(entities >= 117)
        #expect(witnessed >= 28)
    }

    @Test func `mutated binary models never crash`() throws {
        let path = try #require(Corpus.paths(where: { $0.hasSuffix("TopSongs.xcdatamodel/elements") }).first)
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        for seed in UInt64(0)..<500 {
            var findings: [Finding] = []
            _ = try? ManagedObjectModel(elements: bytes.mutated(seed: seed), findings: &findings)
        }
    }

    private func knownHashes() throws -> [String: Set<[UInt8]>] {
        var known: [String: Set<[UInt8]>] = [:]
        for store in try CorpusStore.all() {
            for (name, hash) in store.hashes { known[name, default: []].insert(hash) }
        }
        for path in Corpus.paths(where: { $0.hasSuffix("VersionInfo.plist") }) {
            let list = try PropertyList(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))))
            for version in (list["NSManagedObjectModel_VersionHashes"]?.dictionary ?? [:]).values {
                for (name, hash) in version.dictionary ?? [:] { known[name, default: []].insert(hash.data ?? []) }
            }
        }
        return known
    }
}

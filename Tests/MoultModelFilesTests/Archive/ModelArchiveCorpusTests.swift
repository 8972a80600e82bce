import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Every compiled model and model cache of the corpus against the hashes that Apple's tools wrote.
@Suite(.enabled(if: Corpus.isWhole)) struct ModelArchiveCorpusTests {  // tier: long
    @Test func `the model cache of every store has the hashes of its metadata`() throws {
        var (stores, entities, checksums, digests) = (0, 0, 0, 0)
        for store in try CorpusStore.all() {
            guard let cache = store.modelCache else { continue }
            var findings: [Finding] = []
            let model = try ManagedObjectModel(modelCache: cache, findings: &findings)
            #expect(findings.isEmpty, "\(store.path): \(findings)")
            let computed = VersionHashes(of: model)
            let expected = store.hashes
            for (name, hash) in expected { #expect(computed.entities[name] == hash, "\(store.path): \(name)") }
            #expect(computed.entities.count >= expected.count)
            if let digest = store.metadata["NSStoreModelVersionHashesDigest"]?.string {
                #expect(VersionHashes(read: expected).digest.base64 == digest, "\(store.path)")
                digests += 1
            }
            if let checksum = store.metadata["NSStoreModelVersionChecksumKey"]?.string {
                #expect(computed.checksum.base64 == checksum, "\(store.path)")
                checksums += 1
            }
            stores += 1
            entities += expected.count
        }
        print("\(stores) model caches, \(entities) entity hashes, \(checksums) checksums, \(digests) digests equal")
        #expect(stores >= 36)
    }

    @Test func `every compiled model has the hashes of the version list beside it`() throws {
        var (models, entities, checksums) = (0, 0, 0)
        for path in Corpus.paths(where: { $0.hasSuffix(".mom") }) {
            let url = URL(fileURLWithPath: path)
            let name = url.deletingPathExtension().lastPathComponent
            let listPath = url.deletingLastPathComponent().appendingPathComponent("VersionInfo.plist")
            guard let listBytes = try? Data(contentsOf: listPath) else { continue }
            let list = try PropertyList(parsing: Array(listBytes))
            var findings: [Finding] = []
            let model = try ManagedObjectModel(compiled: Array(Data(contentsOf: url)), findings: &findings)
            #expect(findings.isEmpty, "\(path): \(findings)")
            let expected = try #require(list["NSManagedObjectModel_VersionHashes"]?[name]?.dictionary, "\(path)")
            let computed = VersionHashes(of: model)
            #expect(computed.entities == expected.compactMapValues(\.data), "\(path)")
            if let checksum = list["NSManagedObjectModel_VersionChecksums"]?[name]?.string {
                #expect(computed.checksum.base64 == checksum, "\(path)")
                checksums += 1
            }
            models += 1
            entities += expected.count
        }
        print("\(models) compiled models, \(entities) entity hashes, \(checksums) checksums equal")
        #expect(models >= 58)
    }
}

/// A store of the corpus, read by the sqlite3 shell.
struct CorpusStore {
    var path: String
    var metadata: PropertyList
    var modelCache: [UInt8]?

    var hashes: [String: [UInt8]] {
        (metadata["NSStoreModelVersionHashes"]?.dictionary ?? [:]).compactMapValues(\.data)
    }

    static func all() throws -> [CorpusStore] {
        try Corpus.stores.map { path in
            let metadata = try SQLiteShell.run(path, "SELECT hex(Z_PLIST) FROM Z_METADATA", immutable: true)
            let cache = try? SQLiteShell.run(path, "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE", immutable: true)
            let bytes = cache.map { [UInt8](hexadecimal: $0) } ?? []
            return CorpusStore(
                path: path, metadata: try PropertyList(parsing: [UInt8](hexadecimal: metadata)),
                modelCache: bytes.isEmpty ? nil : bytes)
        }
    }
}

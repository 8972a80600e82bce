import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Every XML model of the corpus, as Xcode wrote it.
@Suite(.enabled(if: Corpus.isWhole)) struct ModelXMLCorpusTests {  // tier: long
    @Test func `every model reads without a finding`() throws {
        let models = try CorpusSources.all.get()
        for source in models { #expect(source.findings.isEmpty, "\(source.findings)") }
        let entities = models.map(\.model.entities.count).reduce(0, +)
        print("XML models read: \(models.count), entities: \(entities)")
        // Counted with a general XML parser, not by the reader.
        #expect(models.count == 248)
        #expect(entities == 7396)
    }

    @Test func `what is written reads back equal`() throws {
        for source in try CorpusSources.distinct.get() {
            var findings: [Finding] = []
            let written = Array(try source.model.xmlContents().utf8)
            #expect(try ManagedObjectModel(xmlContents: written, file: "", findings: &findings) == source.model)
        }
    }
}

/// The XML models of the corpus, each read once for all tests.
struct CorpusSource: Sendable {
    let path: String
    let model: ManagedObjectModel
    let findings: [Finding]
}

enum CorpusSources {
    static let all = Result<[CorpusSource], any Error> {
        try Corpus.paths { $0.hasSuffix(".xcdatamodel/contents") }.map { path in
            var findings: [Finding] = []
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let model = try ManagedObjectModel(xmlContents: bytes, file: path, findings: &findings)
            return CorpusSource(path: path, model: model, findings: findings)
        }
    }

    /// Without the long chain but for each tenth of it, which is enough where a test is slow.
    static let distinct = Result<[CorpusSource], any Error> {
        try all.get().enumerated().filter { !$1.path.contains("WooCommerce") || $0 % 10 == 0 }.map(\.element)
    }
}

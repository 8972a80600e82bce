import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Every XML model of the corpus, as Xcode wrote it.
@Suite(.enabled(if: Corpus.isAvailable)) struct ModelXMLCorpusTests {
    private static let files = Corpus.paths { $0.hasSuffix(".xcdatamodel/contents") }

    @Test func everyModelReadsWithoutAFinding() throws {
        var entities = 0
        for file in Self.files {
            var findings: [Finding] = []
            let model = try ManagedObjectModel(xmlContents: try bytes(file), file: file, findings: &findings)
            #expect(findings.isEmpty, "\(findings)")
            entities += model.entities.count
        }
        print("XML models read: \(Self.files.count), entities: \(entities)")
        // Counted with a general XML parser, not by the reader.
        #expect(Self.files.count == 248)
        #expect(entities == 7396)
    }

    @Test func whatIsWrittenReadsBackEqual() throws {
        for file in Self.files {
            var findings: [Finding] = []
            let model = try ManagedObjectModel(xmlContents: try bytes(file), file: file, findings: &findings)
            let written = Array(try model.xmlContents().utf8)
            #expect(try ManagedObjectModel(xmlContents: written, file: file, findings: &findings) == model)
        }
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
}

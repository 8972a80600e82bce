import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// A file whose entities other files have too gives what it gives alone: the same model, findings, errors and lines.
struct SharedEntitiesTests {  // tier: long
    /// What reading comes to, as text that can be compared.
    private enum Outcome: Equatable {
        case model(ManagedObjectModel, [Finding])
        case error(String)
    }

    private func outcome(_ read: (inout [Finding]) throws -> ManagedObjectModel) -> Outcome {
        var findings: [Finding] = []
        do {
            return .model(try read(&findings), findings)
        } catch {
            return .error("\(error)")
        }
    }

    private func expectSame(_ bytes: [UInt8], _ shared: SharedEntities, _ comment: Comment? = nil) {
        let alone = outcome { try ManagedObjectModel(xmlContents: bytes, file: "m/contents", findings: &$0) }
        let among = outcome {
            try ManagedObjectModel(xmlContents: bytes, file: "m/contents", sharing: shared, findings: &$0)
        }
        #expect(alone == among, comment)
    }

    @Test(.enabled(if: Corpus.isWhole)) func `every model of the corpus is the same among all others`() throws {
        let shared = SharedEntities()
        let paths = Corpus.paths { $0.hasSuffix(".xcdatamodel/contents") }
        for path in paths {
            expectSame([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))), shared, "\(path)")
        }
        // Of 7,396 entities. Counted by a regular expression over the files.
        #expect(shared.count == 411)
    }

    @Test func `mutated models are the same among others`() throws {
        let xml = Array(try RichModel.model().xmlContents().utf8)
        let shared = SharedEntities()
        expectSame(xml, shared)
        #expect(shared.count > 0)
        for seed in 0..<2000 as Range<UInt64> { expectSame(xml.mutated(seed: seed), shared, "seed \(seed)") }
    }

    @Test(arguments: [
        "<entity name='A'/><entity name='B' ></entity>",
        "<entity name='A'><attribute name='a' attributeType='String' defaultValueString='a > b /> </entity>'/></entity>",
        "<entity name='A'><userInfo><entry key='k' value='>'/></userInfo></entity><entity\nname=\"B'>\"/>",
        "<!-- <entity name='A'/> --><entity name='B'/>",
        "<entity name='A'><!-- </entity> --></entity>",
        "<entity name='A'><![CDATA[</entity>]]></entity>",
        "<?p <entity name='A'/> ?><entity name='B'/>",
        "<configuration name='C'><entity name='A'/></configuration>",
        "<entity name='A'><entity name='B'></entity></entity>",
        "<entity name='A'><entity name='B'/></entity>",
        "<configuration name='<entity name=\"A\"/>'/>",
        "<entity name='A'/><entity name='A'/>",
        "<entity name='A' unknown='1'/>",
        "<entity name='A'><unknown/></entity>",
        "<entity name='A' parentEntity='B'/>",
        "<entity name='A'></entity ><entity name='B'/>",
        "<entity name='A'><attribute name='a' attributeType='Nothing'/></entity>",
        "<entity name='A'><relationship name='b' destinationEntity='B' inverseName='a' inverseEntity='C'/></entity>"
            + "<entity name='B'><relationship name='a' destinationEntity='A' inverseName='b'/></entity>"
            + "<entity name='C'/>",
        "<entity name='A'><relationship name='b' destinationEntity='B'/></entity>",
        "<entity name='A&x;'/>",
        "<entity name='A'",
        "<entity name='A'>",
        "<entity",
        "<entity name='A'/><",
    ])
    func `unusual markup is read as a whole`(body: String) {
        let shared = SharedEntities()
        // Those that a later file could be mistaken to have.
        expectSame(Array("<model><entity name='A'/>\n<entity name='B'/></model>".utf8), shared)
        expectSame(Array("<model>\n\(body)\n</model>".utf8), shared)
        expectSame(Array("<model>\n\(body)\n</model>".utf8), shared)
    }

    @Test func `deep nesting is refused at the same depth`() {
        let shared = SharedEntities()
        for depth in 58...66 {
            let nested = String(repeating: "<userInfo>", count: depth) + String(repeating: "</userInfo>", count: depth)
            expectSame(Array("<model><entity name='A'>\(nested)</entity></model>".utf8), shared, "\(depth)")
        }
    }
}

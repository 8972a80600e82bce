import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// What a person reads of a model file that is wrong: what was found, the line, and what to do.
@Suite struct ModelXMLErrorTests {
    @Test(arguments: [
        // Contradictions between parts.
        ("<entity name='A' parentEntity='B'/>", 2, "A", "parent entity B"),
        ("<entity name='A' parentEntity='B'/><entity name='B' parentEntity='A'/>", 2, "A", "its own ancestor"),
        ("<entity name='A'/>\n<entity name='A'/>", 2, "A", "two entities named A"),
        ("<entity name='A'><attribute name='x'/>\n<attribute name='x'/></entity>", 2, "A.x", "two properties named x"),
        ("<entity name='A'>\n<relationship name='r' destinationEntity='B'/></entity>", 3, "A.r", "destination B"),
        (
            "<entity name='A'>\n<relationship name='r' destinationEntity='A' inverseName='s' inverseEntity='A'/></entity>",
            3, "A.r", "inverse s"
        ),
        (
            """
            <entity name='A'><relationship name='r' destinationEntity='B' inverseName='s' inverseEntity='B'/></entity>
            <entity name='B'><relationship name='s' destinationEntity='A' inverseName='t' inverseEntity='A'/></entity>
            """, 2, "A.r", "which names t"
        ),
        // Values.
        ("<entity/>", 2, "", "no name"),
        ("<entity name='A'>\n<attribute name='x' attributeType='Text'/></entity>", 3, "A.x", "\"Text\""),
        (
            "<entity name='A'><attribute name='x' attributeType='String' derived='YES'/></entity>", 2, "A.x",
            "no derivationExpression"
        ),
    ])
    func `a contradiction`(body: String, line: Int, path: String, words: String) throws {
        let error = try #require(failure("<model>\n\(body)</model>"))
        #expect(error.code == .modelInvalid)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.place == "m/contents:\(line)" + (path.isEmpty ? "" : ": \(path)"), "\(error)")
        #expect(!error.remedy.isEmpty)
    }

    @Test(arguments: [
        ("<entity name='A' isAbstract='maybe'/>", 2, "A", "switch-not-read", "neither YES nor NO"),
        (
            "<entity name='A'><attribute name='x' attributeType='Integer 16' defaultValueString='40000'/></entity>", 2,
            "A.x", "default-not-read", "\"40000\" is not a value of type Integer 16"
        ),
        (
            "<entity name='A'><attribute name='x' attributeType='Decimal' defaultValueString='1e-9223372036854775808'/></entity>",
            2, "A.x", "default-not-read", "not a value of type Decimal"
        ),
        (
            "<entity name='A'>\n<attribute name='x' attributeType='Date' defaultDateTimeInterval='today'/></entity>", 3,
            "A.x", "default-not-read", "not a value of type Date"
        ),
        (
            "<entity name='A'><attribute name='x' attributeType='Boolean' defaultValueString='0.5'/></entity>", 2,
            "A.x", "default-not-read", "not a value of type Boolean"
        ),
        (
            "<entity name='A'><relationship name='r' destinationEntity='A' maxCount='99999999999999999999'/></entity>",
            2, "A.r", "count-not-read", "not a count"
        ),
        (
            "<entity name='A'><relationship name='r' destinationEntity='A' minCount='3' maxCount='2'/></entity>", 2,
            "A.r", "counts-contradict", "at least 3 destinations and at most 2"
        ),
        (
            "<entity name='A'><relationship name='r' destinationEntity='A' deletionRule='Explode'/></entity>", 2, "A.r",
            "delete-rule-not-read", "\"Explode\""
        ),
        (
            "<entity name='A'><fetchIndex name='i'><fetchIndexElement type='Binary' order='ascending'/></fetchIndex></entity>",
            2, "A.i", "index-not-read", "neither property nor expression"
        ),
        (
            "<entity name='A'/><fetchRequest name='all'/>", 2, "all", "fetch-request-not-read", "no entity"
        ),
        (
            "<entity name='A'><userInfo><entry value='v'/></userInfo></entity>", 2, "", "user-info-not-read", "no key"
        ),
        (
            """
            <entity name='A'><relationship name='r' destinationEntity='B' inverseName='s' inverseEntity='C'/></entity>
            <entity name='B'><relationship name='s' destinationEntity='A' inverseName='r' inverseEntity='A'/></entity>
            <entity name='C'/>
            """, 2, "A.r", "inverse-entity-not-read", "is C, but the destination is B"
        ),
    ])
    func `an oddity is a finding with its line, and the model is read`(
        body: String, line: Int, path: String, code: String, words: String
    ) throws {
        var findings: [Finding] = []
        let model = try ManagedObjectModel(
            xmlContents: Array("<model>\n\(body)</model>".utf8), file: "m/contents", findings: &findings)
        #expect(model.entity("A") != nil)
        let finding = try #require(findings.first)
        #expect(findings.count == 1 && finding.severity == .warning && finding.code == code)
        #expect(finding.message.contains(words), "\(finding)")
        #expect(finding.place == "m/contents:\(line)" + (path.isEmpty ? "" : ": \(path)"), "\(finding)")
        #expect(!finding.remedy.isEmpty)
    }

    static let defaults: [(String, String, AttributeValue?)] = [
        ("Boolean", "0.0", .boolean(false)), ("Boolean", "1.0", .boolean(true)),
        ("Boolean", "-0", .boolean(false)), ("Boolean", "yes", .boolean(true)), ("Boolean", "FALSE", .boolean(false)),
        ("Boolean", " NO ", .boolean(false)), ("Boolean", "0.5", nil), ("Boolean", "", nil), ("Boolean", "maybe", nil),
        ("Boolean", "nan", nil), ("Integer 16", "NO", .integer(0)), ("Integer 16", "7.0", .integer(7)),
        ("Integer 16", "7.5", nil),
        ("Integer 16", "7 5", nil), ("Integer 64", " 7", .integer(7)), ("Double", "1e2", .double(100)),
        ("String", " a ", .string(" a ")), ("String", "", .string("")),
    ]

    /// `0.0` on a Boolean is what kiwix has, left from the time when it was a number.
    @Test(arguments: defaults)
    func `a default of an older type is read as Core Data reads it`(
        type: String, text: String, expected: AttributeValue?
    ) throws {
        let xml = """
            <model><entity name='A'><attribute name='x' optional='YES' attributeType='\(type)' \
            defaultValueString='\(text)'/></entity></model>
            """
        var findings: [Finding] = []
        let model = try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "m", findings: &findings)
        #expect(model.entity("A")?.attribute("x")?.defaultValue == expected)
        #expect(findings.map(\.code) == (expected == nil ? ["default-not-read"] : []))
    }

    @Test(arguments: [
        ("", 1, "no element"), ("not xml", 1, "syntax error"), ("<model>", 1, "ends inside <model> of line 1"),
        ("<model></entity>", 1, "mismatched tag inside <model>"), ("<model/><model/>", 1, "junk after"),
        ("<model>\n<<<<<<< HEAD\n</model>", 2, "invalid token"), ("<model\nname>", 2, "invalid token"),
        ("<model name='a' name='b'/>", 1, "duplicate attribute"), ("<model name='&nope;'/>", 1, "undefined entity"),
        ("<!DOCTYPE m SYSTEM 'file:///etc/passwd'><model>&nope;</model>", 1, "&nope; is not a character"),
        ("<!DOCTYPE m SYSTEM 'file:///etc/passwd'><model name='&nope;'/>", 1, "&nope; is not a character"),
        ("<!DOCTYPE m [<!ENTITY a 'b'>]><model/>", 1, "declares entities"),
        ("<model name='\u{1}'/>", 1, "invalid token"),
        ("<?xml version='1.0' encoding='UTF-16'?><model>\u{E9}</modal>", 1, "mismatched tag"),
        (String(repeating: "<model>", count: 65), 1, "nested too deeply"),
        ("<plist/>", 1, "root is <plist>"),
    ])
    func `not a model`(text: String, line: Int, words: String) throws {
        let error = try #require(failure(text))
        #expect(error.code == .modelInvalid)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.place.hasPrefix("m/contents:\(line)"), "\(error)")
    }

    @Test func `bytes that are no UTF 8`() throws {
        var findings: [Finding] = []
        #expect(throws: MigrationError.self) {
            try ManagedObjectModel(xmlContents: [0xFF, 0xFE, 0x3C, 0], file: "", findings: &findings)
        }
    }

    @Test func `what is not known is one finding for each kind`() throws {
        let xml = """
            <model><entity name='A' glow='YES'><attribute name='x' glow='1'/><attribute name='y' glow='1'/>
            <aura/></entity><entity name='B'/></model>
            """
        var findings: [Finding] = []
        let model = try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "m", findings: &findings)
        #expect(model.entities.count == 2)
        #expect(
            findings.map(\.message) == [
                "The attribute glow of <attribute> is not known and was not read (2 in the file).",
                "The attribute glow of <entity> is not known and was not read (1 in the file).",
                "The element <aura> in <entity> is not known and was not read (1 in the file).",
            ])
    }

    @Test func `references and line breaks are resolved as XML says`() throws {
        let xml =
            "<model><entity name='A'><userInfo><entry key='k' value='&lt;&#10;&#x1F426;&amp;amp;\n\t.'/></userInfo></entity></model>"
        var findings: [Finding] = []
        let model = try ManagedObjectModel(xmlContents: Array(xml.utf8), file: "m", findings: &findings)
        #expect(model.entities[0].userInfo == ["k": "<\n\u{1F426}&amp;  ."])
    }

    @Test func `no mutation crashes a reader`() throws {
        let xml = Array(try RichModel.model().xmlContents().utf8)
        let json = Array(try RichModel.model().json.compact.utf8)
        for seed in 0..<500 as Range<UInt64> {
            var findings: [Finding] = []
            _ = try? ManagedObjectModel(xmlContents: xml.mutated(seed: seed), file: "m", findings: &findings)
            _ = try? ManagedObjectModel(json: json.mutated(seed: seed), file: "m", findings: &findings)
        }
    }

    @Test func `an element of endless attributes is refused at once`() throws {
        let attributes = (0..<50_000).map { "x\($0)='1'" }.joined(separator: " ")
        let error = try #require(failure("<model><entity name='A' \(attributes)/></model>"))
        #expect(error.message.contains("more than 256 attributes"))
    }

    private func failure(_ text: String) -> MigrationError? {
        var findings: [Finding] = []
        do {
            _ = try ManagedObjectModel(xmlContents: Array(text.utf8), file: "m/contents", findings: &findings)
            return nil
        } catch {
            return error as? MigrationError
        }
    }
}

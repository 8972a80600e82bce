import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Small inputs that would unfold into large ones, refused before they do.
struct HostileInputTests {
    /// The error, and that it did not take long.
    private func refusal(_ body: (inout [Finding]) throws -> Void) -> MigrationError? {
        let start = ContinuousClock.now
        var findings: [Finding] = []
        let error = #expect(throws: MigrationError.self) { try body(&findings) }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(error?.code != .internal && error?.remedy.isEmpty == false)
        return error
    }

    @Test(arguments: [
        // Ten times ten times … an entity of a few bytes.
        "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\">"
            + (1...9).map { "<!ENTITY \(names[$0]) \"\(String(repeating: "&\(names[$0 - 1]);", count: 10))\">" }
            .joined()
            + "]><model><entity name=\"&j;\"/></model>",
        // One that is itself.
        "<!DOCTYPE m [<!ENTITY a \"&a;\">]><model><entity name=\"&a;\"/></model>",
        // One that is a file of this machine.
        "<!DOCTYPE m [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><model><entity name=\"&a;\"/></model>",
        "<!DOCTYPE m [<!ENTITY % a SYSTEM \"file:///etc/passwd\"> %a;]><model>&a;</model>",
    ])
    func `entities of a document are never unfolded`(text: String) {
        let bytes = Array(text.utf8)
        _ = refusal { _ = try ManagedObjectModel(xmlContents: bytes, file: "contents", findings: &$0) }
        _ = refusal { _ in _ = try MappingModelFile.Content(bytes, isCompiled: false, file: "xcmapping.xml") }
        _ = refusal { _ in _ = try PropertyList(parsing: bytes) }
    }

    private static let names = "abcdefghij".map(String.init)

    @Test(arguments: ["<entity>", "<entity name=\"a\"><userInfo>", "<elements><element>"])
    func `elements within elements without end are refused`(level: String) {
        let bytes = Array(("<model>" + String(repeating: level, count: 200_000)).utf8)
        _ = refusal { _ = try ManagedObjectModel(xmlContents: bytes, file: "contents", findings: &$0) }
        _ = refusal { _ in _ = try MappingModelFile.Content(bytes, isCompiled: false, file: "xcmapping.xml") }
    }

    @Test(arguments: ["[", "{\"a\":", "{\"entities\":["])
    func `JSON within JSON without end is refused`(level: String) {
        let bytes = Array(String(repeating: level, count: 200_000).utf8)
        _ = refusal { _ = try ManagedObjectModel(json: bytes, file: "Model.json", findings: &$0) }
        _ = refusal { _ in _ = try ModelLock(json: bytes, place: "moult.lock").contents }
    }

    /// An entity with one composite attribute: of itself, of two that lead to two each and so on, without elements, of
    /// elements without a name or twice of one name, of an element that is no object.
    @Test(arguments: ["itself", "doubling", "none", "nameless", "twice", "number"])
    func `a composite attribute that contradicts itself in an archive is refused by its name`(kind: String) {
        var builder = KeyedArchive.Builder()
        func fields(_ name: String, _ elements: [PropertyList]) -> [String: PropertyList] {
            [
                "NSPropertyName": builder.string(name), "NSAttributeType": .integer(2100),
                "NSCompositeElements": builder.array(elements),
            ]
        }
        let classes = ["NSCompositeAttributeDescription", "NSObject"]
        let own = builder.reserve()
        var elements: [PropertyList] = []
        switch kind {
        case "itself": elements = [own]
        case "doubling":
            var below = builder.object(
                classes: ["NSAttributeDescription", "NSObject"],
                ["NSPropertyName": builder.string("leaf"), "NSAttributeType": .integer(700)])
            for _ in 0..<60 {
                below = builder.object(classes: classes, fields("level", [below, below]))
            }
            elements = [below]
        case "nameless", "twice":
            let name = kind == "twice" ? builder.string("leaf") : KeyedArchive.Builder.null
            elements = (0..<2).map { _ in
                builder.object(
                    classes: ["NSAttributeDescription", "NSObject"],
                    ["NSPropertyName": name, "NSAttributeType": .integer(700)])
            }
        case "number": elements = [builder.leaf(.integer(5))]
        default: break
        }
        builder.fill(own, classes: classes, fields("color", elements))
        let entity = builder.object(
            classes: ["NSEntityDescription", "NSObject"],
            ["NSEntityName": builder.string("Car"), "NSProperties": builder.dictionary([("color", own)])])
        let root = builder.object(
            classes: ["NSManagedObjectModel", "NSObject"], ["NSEntities": builder.dictionary([("Car", entity)])])
        let archive = builder.archive(root: root)
        let error = refusal { _ = try ManagedObjectModel(compiled: archive, findings: &$0) }
        #expect(error?.code == .modelInvalid && error?.place.hasPrefix("Car.color") == true)
    }

    @Test func `a model cache that unfolds to four gigabytes is refused`() {
        let bomb = Self.zeros(gibibytes: 4)
        #expect(bomb.count < 32 << 20)
        let error = refusal { _ = try ManagedObjectModel(modelCache: bomb, findings: &$0) }
        #expect(error?.message.contains("larger than") == true)
    }

    /// One block with fixed codes (RFC 1951, 3.2.6): a zero, then copies of 258 bytes from one byte before, 13 bits each.
    private static func zeros(gibibytes: Int) -> [UInt8] {
        var (bits, count): (UInt64, UInt64) = (0, 0)
        var bytes: [UInt8] = []
        func put(_ value: UInt64, _ width: UInt64) {
            bits |= value << count
            count += width
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                count -= 8
            }
        }
        // Codes are written from their first bit: 0x30 for the zero, 0xC5 for 258, five zeros for the distance.
        put(0b010, 3)
        put(0b0000_1100, 8)
        for _ in 0..<8 { put(0b1010_0011, 13) }
        let round = Array(bytes.suffix(13))
        // Eight copies are thirteen bytes, wherever in a byte they begin.
        let rounds = gibibytes << 30 / (8 * 258)
        bytes.reserveCapacity(bytes.count + rounds * 13)
        for _ in 0..<rounds { bytes += round }
        return bytes
    }

    @Test func `an archive whose objects share their parts is refused, or read in bounded time`() {
        // Each array holds the one before it twice.
        var builder = KeyedArchive.Builder()
        var last = builder.string("x")
        for _ in 0..<60 { last = builder.array([last, last]) }
        let root = builder.object(classes: ["NSManagedObjectModel"], ["NSEntities": last])
        let bytes = builder.archive(root: root)
        _ = refusal { _ = try ManagedObjectModel(compiled: bytes, findings: &$0) }
        _ = refusal { _ in _ = try MappingModelFile.Content(bytes, isCompiled: true, file: "Model.cdm") }
    }
}

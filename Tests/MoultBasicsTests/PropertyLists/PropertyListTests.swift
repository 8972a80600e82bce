import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite struct PropertyListTests {
    static let sample: PropertyList = .dictionary([
        "text": .string("plain"), "umlaut": .string("Größe 🐣"), "empty": .string(""),
        "small": .integer(7), "byte": .integer(255), "word": .integer(65_535), "long": .integer(4_294_967_296),
        "negative": .integer(-1), "least": .integer(.min), "most": .integer(.max), "huge": .unsignedInteger(.max),
        "real": .real(-0.1), "date": .date(694_224_000.5), "yes": .boolean(true), "no": .boolean(false),
        "data": .data(Array(0...255)), "none": .data([]), "list": .array([.integer(7), .string("plain"), .array([])]),
        "reference": .uid(70_000), "nested": .dictionary(["plain": .dictionary([:])]),
    ])

    @Test func `a list comes back from its binary form`() throws {
        #expect(try PropertyList(parsing: Self.sample.binary) == Self.sample)
    }

    @Test func `wide references and offsets come back`() throws {
        let list = PropertyList.array((0..<70_000).map { .string("element \($0)") })
        #expect(try PropertyList(parsing: list.binary) == list)
    }

    @Test func `Foundation reads what is written`() throws {
        guard var entries = Self.sample.dictionary else { throw CocoaError(.coderInvalidValue) }
        entries["reference"] = nil
        let list = PropertyList.dictionary(entries)
        let foundation = try PropertyListSerialization.propertyList(from: Data(list.binary), format: nil)
        #expect(PropertyList(foundation: foundation) == list)
    }

    @Test func `a value below keys is the one in the whole list, in either form`() throws {
        let xml = Array(
            "<plist><dict><key>nested</key><dict><key>plain</key><dict/></dict><key>small</key><integer>7</integer></dict></plist>"
                .utf8)
        for bytes in [Self.sample.binary, xml] {
            let list = try PropertyList(parsing: bytes)
            #expect(try PropertyList(parsing: bytes, below: ["small"]) == .integer(7))
            #expect(try PropertyList(parsing: bytes, below: ["nested", "plain"]) == list["nested"]?["plain"])
            #expect(try PropertyList(parsing: bytes, below: ["nested", "plain"]) == .dictionary([:]))
            #expect(try PropertyList(parsing: bytes) == PropertyList(parsing: bytes, below: []))
            for missing in [["absent"], ["nested", "absent"], ["small", "plain"], ["nested", "plain", "plain"]] {
                #expect(try PropertyList(parsing: bytes, below: missing) == nil, "\(missing)")
            }
        }
    }

    @Test func `what is not below the keys is not read`() throws {
        // An object of no type, which the list as a whole is refused for.
        var bytes = PropertyList.dictionary(["a": .integer(1), "z": .data(Array("broken".utf8))]).binary
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("Fbroken".utf8)) })
        bytes[place] = 0x76
        #expect(throws: MigrationError.self) { try PropertyList(parsing: bytes) }
        #expect(try PropertyList(parsing: bytes, below: ["a"]) == .integer(1))
        #expect(throws: MigrationError.self) { try PropertyList(parsing: bytes, below: ["z"]) }
    }

    @Test func `an XML list is read as Foundation reads it`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><!-- a comment -->
            <dict>
            <key>a &lt;b&gt; &#65;&#x42;</key><string>one &amp; <![CDATA[<two>]]></string>
            <key>c</key><array><integer>-12</integer><real>1.5e3</real><true/><false/><string/><dict/></array>
            <key>d</key><date>2024-02-29T23:59:59Z</date><key>e</key><date>1899-12-31T00:00:00Z</date>
            <key>f</key><data>
            SGVs
            bG8=
            </data>
            </dict></plist>
            """
        let bytes = Array(text.utf8)
        let foundation = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        let list = try PropertyList(parsing: bytes)
        #expect(list == PropertyList(foundation: foundation))
        #expect(list["f"] == .data(Array("Hello".utf8)))
    }

    @Test(
        arguments: [
            "", "bplist00", "<plist>", "<plist><dict><string>x</string></dict></plist>", "<plist><array></plist>",
            "<plist><integer>x</integer></plist>", "<plist></plist>", "<plist><true/><true/></plist>", "<html></html>",
            "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
            "<plist><string>&unknown;</string></plist>",
        ])
    func `what is no property list is refused with a place`(text: String) {
        let error = #expect(throws: MigrationError.self) { try PropertyList(parsing: Array(text.utf8)) }
        #expect(error?.code == .propertyListInvalid)
        #expect(error?.place.hasPrefix(text.hasPrefix("bplist") ? "byte " : "line ") == true)
    }

    @Test func `a list that contains itself or unfolds without end is refused`() {
        // An array whose one element is the array.
        let cycle = Array("bplist00".utf8) + [0xA1, 0x00, 0x08] + trailer(count: 1, table: 10)
        #expect(throws: MigrationError.self) { try PropertyList(parsing: cycle) }
        // Forty arrays, each holding the next one twice: 2 to the power of 40 values.
        var bomb = Array("bplist00".utf8)
        for level in UInt8(0)..<40 { bomb += [0xA2, level + 1, level + 1] }
        bomb.append(0x09)
        let table = bomb.count
        bomb += (UInt8(0)...40).map { 8 + 3 * $0 }
        #expect(throws: MigrationError.self) { try PropertyList(parsing: bomb + trailer(count: 41, table: table)) }
        // Four levels of 60 are thirteen million values: no model, and a long time for whoever walks them.
        var wide = Array("bplist00".utf8)
        for level in UInt8(0)..<4 { wide += [0xAF, 0x10, 60] + [UInt8](repeating: level + 1, count: 60) }
        wide.append(0x09)
        let end = trailer(count: 5, table: wide.count, offsetWidth: 2)
        for level in 0...4 {
            let offset = 8 + 63 * level
            wide += [UInt8(offset >> 8), UInt8(offset & 255)]
        }
        #expect(throws: MigrationError.self) { try PropertyList(parsing: wide + end) }
        let deep = String(repeating: "<array>", count: 100_000)
        #expect(throws: MigrationError.self) { try PropertyList(parsing: Array("<plist>\(deep)".utf8)) }
    }

    private func trailer(count: UInt8, table: Int, offsetWidth: UInt8 = 1) -> [UInt8] {
        let widths: [UInt8] = [0, 0, 0, 0, 0, 0, offsetWidth, 1]
        let numbers: [UInt8] = [0, 0, 0, 0, 0, 0, 0, count] + [UInt8](repeating: 0, count: 8)
        let place: [UInt8] = [0, 0, 0, 0, 0, 0, UInt8(table >> 8), UInt8(table & 255)]
        return widths + numbers + place
    }
}

extension PropertyList {
    /// The independent witness: what Foundation makes of trusted bytes.
    init?(foundation: Any) {
        switch foundation {
        case let text as String: self = .string(text)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: self = .data(Array(data))
        case let array as [Any]: self = .array(array.compactMap(PropertyList.init))
        case let dictionary as [String: Any]: self = .dictionary(dictionary.compactMapValues(PropertyList.init))
        case let number as NSNumber:
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .boolean(number.boolValue)
            case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .real(number.doubleValue)
            default:
                self =
                    number.compare(NSNumber(value: 0)) != .orderedAscending && number.uint64Value > Int64.max
                    ? .unsignedInteger(number.uint64Value) : .integer(number.int64Value)
            }
        default: return nil
        }
    }
}

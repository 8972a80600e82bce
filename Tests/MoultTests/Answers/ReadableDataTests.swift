import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite("Bytes that hold a value in a readable form")
struct ReadableDataTests {
    private func document(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), place: "", code: .usage)
    }

    /// The archives and lists are made by Python's plistlib, as `NSKeyedArchiver` writes them.
    @Test(arguments: [
        (#"["Juniper","Tea"]"#, ["Juniper", "Tea"] as [String]), ("[]", []), (#"["ü\n\"","",""]"#, ["ü\n\"", "", ""]),
    ])
    func `an archived array of strings is an array, and comes back as one`(text: String, elements: [String]) throws {
        let bytes = try Self.archive(of: elements)
        #expect(ReadableData.document(of: bytes, usual: .archive) == (try document(text)))
        let new = try #require(ReadableData.bytes(of: document(text), usual: .archive))
        #expect(try Self.unarchived(new) == elements)
        // Where JSON is usual, the form is named.
        let named = try #require(ReadableData.document(of: bytes, usual: .json))
        #expect(named == (try document(#"{"$archive":\#(text)}"#)))
        #expect(try Self.unarchived(#require(ReadableData.bytes(of: named, usual: .json))) == elements)
    }

    @Test(arguments: [
        #"{"a":1,"b":[true,null,1.5,"x"]}"#, #"[{"step":1,"method":"stir"},{"step":2}]"#, #"{"$archive":[1]}"#,
        #"{"$date":"2020-01-01T00:00:00Z","other":1}"#, "[]", "{}",
    ])
    func `JSON is nested as it is, and comes back as the same JSON`(text: String) throws {
        for spelling in [text, " \n" + text.replacingOccurrences(of: "\":", with: "\" : ")] {
            let value = try #require(ReadableData.document(of: Array(spelling.utf8), usual: .json))
            let bytes = try #require(ReadableData.bytes(of: value, usual: .json))
            let old = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject
            #expect(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSObject == old)
            if !text.hasPrefix(#"{"$archive"#) { #expect(value == (try document(text))) }
        }
    }

    @Test func `every value that an archive of known classes holds comes back`() throws {
        for text in [
            #"[1,2.5,true,null,"text",[["deep"]],{"key":{"inner":[]}}]"#,
            #"[{"$date":"2021-03-04T05:06:07.250000000Z"},{"$date":0.1234567890123},{"$date":"+010000-01-01T00:00:00Z"}]"#,
            #"[{"$data":"AQID"},{"$uuid":"FE8EA8F2-2D16-4A0A-8AD4-4C8A4D9D6F36"},{"$url":"https://example.com/?a=b"}]"#,
            #"[{"$set":["a"]},{"$orderedSet":["a","b"]},{"$number":"nan"},{"$dictionary":[["$key",1],[2,"two"]]}]"#,
        ] {
            let bytes = try #require(ReadableData.bytes(of: document(text), usual: .archive), "\(text)")
            let value = try #require(ReadableData.document(of: bytes, usual: .archive), "\(text)")
            let again = try #require(ReadableData.bytes(of: value, usual: .archive))
            #expect(again == bytes, "\(text): \(value.compact)")
        }
    }

    @Test func `JSON in an archive, and property lists, are named where they are not usual`() throws {
        for text in [
            #"{"$archivedJSON":[{"a":1}]}"#,
            #"{"$plist":{"a":[1,{"$data":"AQID"},{"$date":"2020-01-01T00:00:00.000Z"}]}}"#,
        ] {
            let bytes = try #require(ReadableData.bytes(of: document(text), usual: .archive))
            #expect(ReadableData.document(of: bytes, usual: .archive) == (try document(text)))
            #expect(
                ReadableData.document(of: bytes, usual: nil)?.compact
                    == String(text.dropFirst(text.hasPrefix(#"{"$p"#) ? 10 : 17).dropLast()))
        }
    }

    @Test func `what cannot be read, or not written again, is none`() throws {
        let unknown = Array(
            Data(
                base64Encoded: try Self.python(
                    """
                    import plistlib, base64
                    U = plistlib.UID
                    print(base64.b64encode(plistlib.dumps({'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': {'root': U(1)},
                        '$objects': ['$null', {'$class': U(2), 'UIRed': 0.5}, {'$classname': 'UIColor', '$classes': ['UIColor', 'NSObject']}]},
                        fmt=plistlib.FMT_BINARY)).decode())
                    """)) ?? Data())
        for bytes in [
            unknown, [], Array("text".utf8), Array("12".utf8), Array("[1".utf8), Array("[18446744073709551616]".utf8),
            Array("bplist00 and no more".utf8), [0xFF, 0xD8, 0xFF],
        ] {
            #expect(ReadableData.document(of: bytes, usual: .json) == nil)
        }
        // A text is base64, and no archive of a string.
        #expect(ReadableData.bytes(of: .string("AQID"), usual: .archive) == nil)
        let text = try #require(ReadableData.bytes(of: document(#"{"$archive":"AQID"}"#), usual: .archive))
        #expect(ReadableData.document(of: text, usual: .archive) == (try document(#"{"$archive":"AQID"}"#)))
    }

    @Test func `the text of JSON has its shortest spelling, and the digits that a number cannot keep`() {
        func text(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBytes { ReadableData.text(ofJSON: $0) } }
        #expect(text(Array(#" [1, "a\/b"] "#.utf8)) == #"[1,"a/b"]"#)
        #expect(text(Array("[18446744073709551616]".utf8)) == "[18446744073709551616]")
        for other in ["", "12", "\"text\"", "[1", "[1] 2", "[\u{0}]"] {
            #expect(text(Array(other.utf8)) == nil, "\(other)")
        }
        #expect(text([0x5B, 0x22, 0xFF, 0x22, 0x5D]) == nil)
    }

    // MARK: - The witness

    private static func python(_ program: String) throws -> String {
        let run = try ChildProcess.run("python3", ["-c", program])
        #expect(run.exit == 0, "\(run.output)")
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func archive(of elements: [String]) throws -> [UInt8] {
        let list = Data(try JSONSerialization.data(withJSONObject: elements)).base64EncodedString()
        let text = try python(
            """
            import plistlib, base64, json
            U = plistlib.UID
            texts = json.loads(base64.b64decode('\(list)'))
            print(base64.b64encode(plistlib.dumps({'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': {'root': U(1)},
                '$objects': ['$null', {'$class': U(2), 'NS.objects': [U(i + 3) for i in range(len(texts))]},
                    {'$classname': 'NSArray', '$classes': ['NSArray', 'NSObject']}] + texts}, fmt=plistlib.FMT_BINARY)).decode())
            """)
        return [UInt8](try #require(Data(base64Encoded: text)))
    }

    private static func unarchived(_ bytes: [UInt8]) throws -> [String] {
        let text = try python(
            """
            import plistlib, base64, json
            a = plistlib.loads(base64.b64decode('\(Data(bytes).base64EncodedString())'))
            o = a['$objects']; root = o[a['$top']['root'].data]
            assert o[root['$class'].data]['$classname'] == 'NSArray'
            print(json.dumps([o[u.data] for u in root['NS.objects']]))
            """)
        return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String])
    }
}

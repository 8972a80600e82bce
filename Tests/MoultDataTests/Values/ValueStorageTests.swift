import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// What a save writes for values of every kind, by a reader in Python and by sqlite3, and that it is read again.
@Suite struct ValueStorageTests {  // tier: long
    typealias Thing = Things.Thing

    private let store: VersionedStore

    init() throws {
        store = try VersionedStore()
        try store.open(Things.self) { Things.fill($0) }
    }

    private func sql(_ text: String) throws -> String { try store.sql(text).trimmingCharacters(in: .newlines) }

    @Test func `every value is where SwiftData would have put it`() throws {
        let lines = try Witness.lines(of: store.path)
        #expect(lines.count == 6)
        for (number, line) in lines.enumerated() {
            let words = line.split(separator: " ")
            let told = Dictionary(
                uniqueKeysWithValues: words.dropFirst(2).map { word in
                    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                    return (parts[0], parts[1])
                })
            let expected = ThingText(number).fields
            #expect(told.filter { expected[$0.key] != nil } == expected, "\(number)")
            #expect(Set(told.keys).subtracting(expected.keys) == Set(Self.archives.keys))
        }
    }

    /// The attributes that are archives, with what they hold of each thing.
    private static let archives: [String: (column: String, json: [String])] = [
        "texts": ("ZTEXTS", (0..<6).map { "[" + (0..<$0).map { "\"t\($0)\"" }.joined(separator: ",") + "]" }),
        "textsMaybe": ("ZTEXTSMAYBE", (0..<6).map { $0 % 2 == 0 ? "null" : #"["é",""]"# }),
        "numbers": ("ZNUMBERS", (0..<6).map { "[\($0),\(-$0),9223372036854775807]" }),
        "blobs": ("ZBLOBS", (0..<6).map { $0 % 2 == 0 ? "[]" : #"["AQ==",""]"# }),
        "blobsMaybe": ("ZBLOBSMAYBE", (0..<6).map { $0 % 2 == 0 ? "null" : "[]" }),
        "every.lines": ("ZLINES", (0..<6).map { #"["line \#($0)"]"# }),
        "everyMaybe.lines": ("ZLINES1", (0..<6).map { $0 % 2 == 0 ? "null" : #"["line \#($0 + 10)"]"# }),
    ]

    @Test(arguments: archives.keys.sorted()) func `an array is an archive that Python reads`(_ name: String) throws {
        let expected = try #require(Self.archives[name])
        let script = Witness.folder + "/archives.py"
        let ended = try ChildProcess.run("python3", [script, store.path, "ZTHING", expected.column])
        #expect(ended.output.split(separator: "\n").map(String.init) == expected.json)
    }

    @Test func `every value is read again`() throws {
        try store.open(Things.self) { context in
            let found = try context.fetch(FetchDescriptor<Thing>(sortBy: [SortDescriptor(\.name)]))
            #expect(found.count == 6)
            for (number, thing) in found.enumerated() {
                let model = Thing("")
                Things.change(model, number)
                #expect(thing.word == model.word && thing.wordMaybe == model.wordMaybe)
                #expect(thing.level == model.level && thing.levelMaybe == model.levelMaybe)
                #expect(thing.side == model.side && thing.sideMaybe == model.sideMaybe)
                #expect(thing.every == Things.every(number))
                #expect(thing.everyMaybe == (number % 2 == 1 ? Things.every(number + 10) : nil))
                #expect(thing.texts == model.texts && thing.textsMaybe == model.textsMaybe)
                #expect(thing.numbers == model.numbers && thing.blobs == model.blobs)
                #expect(thing.blobsMaybe == model.blobsMaybe && thing.table == model.table)
                #expect(thing.link == model.link && thing.linkMaybe == model.linkMaybe && thing.started == .beta)
                #expect(!thing.hasChanges)
            }
        }
    }

    /// As it stands in a store that SwiftData made, read by Python: the archive's root is the data of JSON.
    @Test(.enabled(if: Corpus.isWhole)) func `an empty list of data is the archive that SwiftData writes`() throws {
        let theirs = try #require(Corpus.stores.first { $0.hasSuffix("/mock.store") })
        let program = """
            import plistlib, sqlite3, sys
            def first(store, sql): return plistlib.loads(sqlite3.connect("file:" + store + "?immutable=1", uri=True).execute(sql).fetchone()[0])
            own = first(sys.argv[1], "SELECT ZBLOBS FROM ZTHING WHERE Z_PK = 1")
            theirs = first(sys.argv[2], "SELECT ZIMAGEDATA FROM ZSDRECIPE")
            print(own == theirs, own["$objects"])
            """
        _ = try store.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let ended = try ChildProcess.run("python3", ["-c", program, store.path, theirs])
        #expect(ended.output == "True ['$null', b'[]']\n")
    }

    @Test func `changes of one field, to nil and back, are saved and told by the history`() throws {
        try store.open(Things.self) { context in
            let thing = try #require(try context.fetch(FetchDescriptor<Thing>(sortBy: [SortDescriptor(\.name)])).last)
            thing.every.text = "other"
            thing.side = .right
            try context.save()
            #expect(thing.every.text == "other" && thing.every.number == 5)
            thing.everyMaybe = nil
            thing.wordMaybe = nil
            thing.sideMaybe = nil
            try context.save()
        }
        let row =
            "SELECT ZTEXT, ZNUMBER, ZTEXT1, ZNUMBER1, ZWORDMAYBE, ZLEFT, ZRIGHT, ZDEFAULT FROM ZTHING WHERE Z_PK = 6"
        #expect(try sql(row) == ["other", "5", "", "", "", "", "right", ""].joined(separator: "|"))
        try store.open(Things.self) { context in
            let thing = try #require(try context.fetch(FetchDescriptor<Thing>(sortBy: [SortDescriptor(\.name)])).last)
            #expect(thing.every.text == "other" && thing.everyMaybe == nil && thing.wordMaybe == nil)
            #expect(thing.side == .right && thing.sideMaybe == nil)
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            let told = history.suffix(2).map { transaction in
                transaction.changes.compactMap { change -> Set<PartialKeyPath<Thing>>? in
                    guard case .update(let update) = change, let update = update as? DefaultHistoryUpdate<Thing> else {
                        return nil
                    }
                    return Set(update.updatedAttributes)
                }
            }
            #expect(told == [[[\.every, \.side]], [[\.everyMaybe, \.wordMaybe, \.sideMaybe]]])
        }
    }

    @Test func `a row that has the unique value takes over all columns of a new object's values`() throws {
        let store = try VersionedStore()
        try store.open(Upserts.self) { context in
            context.insert(Upserts.Item("a", .init(x: 1, y: 2), .on))
        }
        try store.open(Upserts.self) { context in
            context.insert(Upserts.Item("a", .init(x: 3, y: nil), .off))
        }
        #expect(try store.sql("SELECT ZCODE, ZX, ZY, ZON, ZOFF FROM ZITEM") == "a|3|||off\n")
    }

    @Test func `rolling back brings every column back`() throws {
        try store.open(Things.self) { context in
            let thing = try #require(try context.fetch(FetchDescriptor<Thing>(sortBy: [SortDescriptor(\.name)])).first)
            thing.every = Things.every(9)
            thing.everyMaybe = Things.every(8)
            thing.side = .default
            context.rollback()
            #expect(thing.every == Things.every(0) && thing.everyMaybe == nil && thing.side == .left)
        }
    }
}

private enum Upserts: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Item.self] }

    enum State: Codable { case on, off }
    struct Point: Codable {
        var x: Int
        var y: Int?
    }

    @Model final class Item {
        @Attribute(.unique) var code: String
        var point: Point
        var state: State
        init(_ code: String, _ point: Point, _ state: State) {
            (self.code, self.point, self.state) = (code, point, state)
        }
    }
}

/// A thing as the witness prints it, spelled out by hand.
struct ThingText {
    private(set) var fields: [String: String] = [:]

    init(_ number: Int) {
        let isFull = number % 2 == 1
        fields["name"] = Self.text("thing \(number)")
        fields["word.word"] = Self.text(isFull ? "B e t a" : "alpha")
        fields["wordMaybe.wordMaybe"] = isFull ? Self.text("alpha") : "-"
        fields["level.level"] = isFull ? "i:7" : "i:-1"
        fields["levelMaybe.levelMaybe"] = isFull ? "i:-1" : "-"
        fields["started.started"] = Self.text("B e t a")
        for (index, name) in ["left", "right", "default"].enumerated() {
            fields["side.\(name)"] = number % 3 == index ? Self.text(name) : "-"
            fields["sideMaybe.\(name)"] = isFull && (number + 1) % 3 == index ? Self.text(name) : "-"
        }
        addEvery("every", number)
        addEvery("everyMaybe", isFull ? number + 10 : nil)
        fields["link"] = "u:" + Array("https://example.com/\(number)?a=b".utf8).hexadecimal
        fields["linkMaybe"] = isFull ? "u:" + Array("https://example.com/\(number + 1)?a=b".utf8).hexadecimal : "-"
        fields["table"] = isFull ? Self.bytes(#"{"x":{"count":\#(number),"key":"in"}}"#) : "-"
    }

    private mutating func addEvery(_ path: String, _ number: Int?) {
        let plain = [
            "text", "number", "real", "single", "flag", "moment", "code", "link", "sum", "bytes", "hint", "word",
            "level",
            "inner.key", "inner.count", "spare.key", "spare.count", "inners", "words",
        ]
        guard let number else {
            for name in plain { fields["\(path).\(name)"] = "-" }
            return
        }
        let (isOdd, isThird) = (number % 2 == 1, number % 3 == 0)
        let values = [
            Self.text("text \(number)"), "i:\(number)", Self.bits("f", Double(number) / 4),
            Self.bits("f", Double(number) / 8),
            "b:\(isOdd ? 1 : 0)", Self.bits("d", Double(number)),
            "U:" + ([UInt8(number)] + Array(1...15)).hexadecimal,
            "u:" + Array("https://example.com/\(number)?a=b".utf8).hexadecimal, "n:\(Self.hundredth(number))",
            "x:" + [UInt8(number), 255].hexadecimal, isOdd ? Self.text("hint") : "-",
            isOdd ? Self.text("B e t a") : "-",
            isThird ? "-" : "i:7", Self.text("k\(number)"), isOdd ? "i:\(number)" : "-",
            isOdd ? Self.text("spare") : "-", "-",
            isThird ? "-" : Self.bytes(#"[{"count":1,"key":"a"},{"key":"b"}]"#),
            isThird ? "-" : Self.bytes(#"["B e t a","alpha"]"#),
        ]
        for (name, value) in zip(plain, values) { fields["\(path).\(name)"] = value }
    }

    private static func hundredth(_ number: Int) -> String {
        number == 0 ? "0" : "0.\(number < 10 ? "0" : "")\(number)".trimmed
    }
    private static func text(_ text: String) -> String { "s:" + Array(text.utf8).hexadecimal }
    private static func bytes(_ text: String) -> String { "x:" + Array(text.utf8).hexadecimal }
    private static func bits(_ letter: String, _ number: Double) -> String {
        let digits = String(number.bitPattern, radix: 16)
        return "\(letter):" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension String {
    /// Without zeros behind the point.
    fileprivate var trimmed: String {
        var text = self
        while text.contains("."), text.last == "0" { text.removeLast() }
        return text
    }
}

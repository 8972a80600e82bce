import Foundation
import MoultExport
import MoultModel
import MoultStore
import TestSupport
import Testing

@Suite("Imports")
struct StoreImportTests {
    private struct Empty {
        let path: String
        let version: ModelVersion

        init(_ model: ManagedObjectModel, in folder: ScratchFolder, _ name: String = "new.sqlite") throws {
            version = ModelVersion(names: ["sample"], model: model)
            path = folder.path + "/" + name
            try StoreMaker(version).make(at: path)
        }

        func take(_ path: String, entity: String? = nil, isExact: Bool = true) throws -> [String: Int] {
            try StoreImport(into: self.path, at: version, isExact: isExact).run(path, entity: entity)
        }
    }

    @Test(arguments: [ExportWriter.Format.csv, .jsonl])
    func `what an export has written comes back as it was, in both forms`(format: ExportWriter.Format) throws {
        let store = try SampleStore()
        let folder = store.folder.path
        // No document has a date outside the calendar and a number that is none.
        let new = try Empty(store.model, in: store.folder)
        func export(_ path: String, _ name: String) throws -> String {
            let written = folder + "/" + name
            _ = try ExportWriter(format, isExact: true).write(path, .init(), versions: nil, to: written)
            return written
        }
        let first = try export(store.path, "first")
        let counts = try new.take(first)
        #expect(counts == ["Dish": 40, "Soup": 40, "Ingredient": 40, "Tag": 40, "ZDISH": 40])
        let second = try export(new.path, "second")
        for file in try FileManager.default.contentsOfDirectory(atPath: first) {
            let texts = try [first, second].map { written in
                // The files of external data have names of their own, and the same contents.
                let text = try String(contentsOfFile: "\(written)/\(file)", encoding: .utf8)
                return try text.replacing(/\/[^",\n]*_EXTERNAL_DATA\/[0-9A-F-]*/) { match in
                    try Data(contentsOf: URL(fileURLWithPath: String(match.output))).base64EncodedString()
                }
            }
            for (line, other) in zip(texts[0].split(separator: "\n"), texts[1].split(separator: "\n"))
            where line != other {
                let same = line.commonPrefix(with: other)
                Issue.record(
                    "\(file): \(same.suffix(80))[\(line.dropFirst(same.count).prefix(80))][\(other.dropFirst(same.count).prefix(80))]"
                )
            }
            #expect(texts[0] == texts[1])
        }
    }

    @Test func `a text that a spreadsheet takes for a formula comes back as it was, even with apostrophes`() throws {
        let store = try SampleStore(count: 12)
        let texts = ["=1", "'=1", "''=1", "'", "'a", "\r\n=", "=\u{301}", "\u{FF1D}1", "\n", "-", "'\r\n", "''"]
        for (place, text) in texts.enumerated() {
            let literal = text.utf8.map { String(format: "%02x", $0) }.joined()
            _ = try SQLiteShell.run(
                store.path, "UPDATE ZINGREDIENT SET ZNAME = CAST(x'\(literal)' AS TEXT) WHERE Z_PK = \(place + 1)")
        }
        let written = store.folder.path + "/written"
        let outcome = try ExportWriter(.csv).write(store.path, .init(), versions: nil, to: written)
        let new = try Empty(store.model, in: store.folder)
        _ = try new.take(written, isExact: false)
        let names = try [store.path, new.path].map {
            try SQLiteShell.run($0, "SELECT hex(ZNAME) FROM ZINGREDIENT ORDER BY Z_PK")
        }
        #expect(names[0] == names[1] && outcome.guarded >= 9)
    }

    @Test func `a destination is named by its key in the store, by a unique value, or in a list`() throws {
        let store = try SampleStore(count: 1)
        let new = try Empty(store.model, in: store.folder)
        func take(_ name: String, _ text: String) throws -> [String: Int] {
            let path = store.folder.path + "/" + name
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return try new.take(path, isExact: false)
        }
        _ = try take(
            "Dish.csv", "Z_PK,aString,aDate\n7,\"a \"\"b\"\"\n, c\",2021-03-04T05:06:07.250000000Z\n8,'=1+2,\n")
        _ = try take("Ingredient.csv", "name,dish\nsalt,1\npepper,2\n")
        _ = try take("Ingredient.jsonl", "{\"name\":\"oil\",\"dish.aString\":\"=1+2\"}\n\n{\"dish\":null}\n")
        _ = try take("Soup.jsonl", "{\"aString\":\"soup\",\"tags\":[],\"isHot\":true,\"aBinary\":\"AQI=\"}\n")
        #expect(
            try SQLiteShell.run(
                new.path,
                "SELECT i.ZNAME, d.ZASTRING FROM ZINGREDIENT i LEFT JOIN ZDISH d ON d.Z_PK = i.ZDISH ORDER BY i.Z_PK")
                == "salt|a \"b\"\n, c\npepper|=1+2\noil|=1+2\n|\n")
        #expect(try SQLiteShell.run(new.path, "SELECT ZADATE FROM ZDISH WHERE Z_PK = 1") == "636527167.25\n")
        #expect(try SQLiteShell.run(new.path, "SELECT hex(ZABINARY), ZISHOT FROM ZDISH WHERE Z_PK = 3") == "0102|1\n")
    }

    @Test func `a row that does not fit is named by its line, and nothing is imported`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "User",
                attributes: [
                    .init(name: "name", type: .string, isOptional: false, validation: .init(minimum: "2")),
                    .init(name: "age", type: .integer16),
                ],
                relationships: [.init(name: "friend", destinationEntityName: "User")], uniquenessConstraints: [["name"]]
            )
        ])
        let folder = try ScratchFolder()
        let new = try Empty(model, in: folder)
        for (name, text, code, says) in [
            ("User.csv", "name,age\nann,1\nbob,many\n", MigrationError.Code.usage, "User.csv:3"),
            ("User.csv", "name,age\nann,1,2\n", .usage, "User.csv:2"),
            ("User.csv", "name,agee\nann,1\n", .usage, "Did you mean age"),
            ("User.csv", "name\n\"ann\n", .usage, "User.csv:2"),
            ("User.csv", "name,friend\nann,5\n", .usage, "User.csv:2"),
            ("User.csv", "Z_PK,name\n1,ann\n1,bob\n", .usage, "User.csv:3"),
            ("User.csv", "name,age\nann,40000\n", .usage, "User.csv:2"),
            ("User.csv", "name\nx\n", .rulesBroken, "User.csv:2"),
            ("User.csv", "age\n1\n", .rulesBroken, "User.csv:2"),
            ("User.csv", "name\nann\nann\n", .dataConflict, "User.csv:"),
            ("User.csv", "name\n\u{FFFD}\u{FFFD}\n", .usage, ""),
            ("User.jsonl", "{\"name\":\"ann\"}\n[1]\n", .usage, "User.jsonl:2"),
            ("User.jsonl", "{\"name\":3}\n", .usage, "User.jsonl:1"),
            ("Usr.csv", "name\nann\n", .usage, "Did you mean User"),
            ("User.txt", "name\nann\n", .usage, "User.txt"),
        ] {
            let path = folder.path + "/" + name
            var bytes = Data(text.utf8)
            if text.contains("\u{FFFD}") { bytes = Data("name\n".utf8) + Data([0xFF, 0xFE, 0x0A]) }
            try bytes.write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: MigrationError.self, "\(text)") { try new.take(path) }
            #expect(error?.code == code, "\(text): \(String(describing: error))")
            let said = "\(error?.place ?? "") \(error?.message ?? "") \(error?.remedy ?? "")"
            #expect(says.isEmpty || said.contains(says), "\(said)")
            #expect(try SQLiteShell.run(new.path, "SELECT count(*) FROM ZUSER") == "0\n")
        }
        let path = folder.path + "/people.csv"
        try Data("name,friend.name\nann,bob\nbob,\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try new.take(path, entity: "User") == ["User": 2])
        #expect(try SQLiteShell.run(new.path, "SELECT ZNAME, ZFRIEND FROM ZUSER") == "ann|2\nbob|\n")
    }
}

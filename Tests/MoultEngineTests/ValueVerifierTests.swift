import Moult
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Values that are none of their attribute's type are found by SQLite's own words; the sqlite3 shell writes them.
struct ValueVerifierTests {
    private static func model() throws -> ManagedObjectModel {
        let types: [(String, AttributeType)] = [
            ("i16", .integer16), ("i32", .integer32), ("i64", .integer64), ("flag", .boolean), ("real", .double),
            ("single", .float), ("day", .date), ("money", .decimal), ("name", .string), ("link", .uri), ("key", .uuid),
            ("data", .binary), ("form", .transformable),
        ]
        var attributes = types.map { AttributeDescription(name: $0.0, type: $0.1) }
        attributes.append(.init(name: "file", type: .binary, allowsExternalBinaryDataStorage: true))
        return try ManagedObjectModel(entities: [EntityDescription(name: "Item", attributes: attributes)])
    }

    /// Each in rows of its own; the key of a row is its position, counted from 1.
    private static let literals = [
        "0", "1", "2", "-32768", "32767", "70000", "-70000", "2147483648", "9223372036854775807",
        "-9223372036854775808", "1.5", "1e300",
        "9e999", "-9e999", "0.1", "''", "'abc'", "'12'", "'1e5000'", "'1e400'", "'NaN'", "'12,5'",
        "'123456789012345678901234567890123456'", "CAST(x'c3a9' AS TEXT)", "CAST(x'ff' AS TEXT)",
        "CAST(x'61c3' AS TEXT)", "CAST(x'610062' AS TEXT)", "CAST(x'6100ff' AS TEXT)", "CAST(x'efbfbd' AS TEXT)",
        "x''", "x'01'", "x'0141'", "x'02'", "x'0241424300'", "x'02414243'", "x'03'", "zeroblob(16)", "zeroblob(17)",
        "'true'", "NULL",
    ]

    /// One row for each literal, which is in every column; its entity number is its position, counted from 1.
    private func store() throws -> (folder: ScratchFolder, path: String) {
        let folder = try ScratchFolder()
        let path = folder.path + "/Items.sqlite"
        try StoreCreator(ModelVersion(names: ["1"], model: try Self.model())).make(at: path)
        let names = try Self.model().entities[0].attributes.map { "Z\($0.name.uppercased())" }
        let rows = Self.literals.enumerated().map { position, literal in
            "(\(position + 1), \(position + 1), 1, \(names.map { _ in literal }.joined(separator: ", ")))"
        }
        _ = try SQLiteShell.run(
            path,
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(names.joined(separator: ", "))) "
                + "VALUES \(rows.joined(separator: ", "))")
        return (folder, path)
    }

    /// By attribute, the literals that are called faults.
    private func faults(_ path: String) throws -> [String: Set<String>] {
        let model = try Self.model()
        return try ReadOnlyStore.read(path) { probe in
            let layout = try StoreLayout(actual: StoreSnapshot(probe.connection), model: model)
            let columns = try model.entities[0].attributes.flatMap { attribute in
                let column = try #require(layout.column(forAttribute: attribute.name, in: model.entities[0]))
                let form = try #require(ValueVerifier.Form(attribute))
                return Self.literals.enumerated().map { position, literal in
                    ValueVerifier.Column(
                        place: "\(attribute.name)|\(literal)", table: "ZITEM", column: column, numbers: [position + 1],
                        form: form, typeName: "it")
                }
            }
            var faults: [String: Set<String>] = [:]
            for finding in try ValueVerifier(probe.connection, columns: columns).findings() {
                let parts = finding.place.split(separator: "|", maxSplits: 1).map(String.init)
                faults[parts[0], default: []].insert(parts[1])
            }
            return faults
        }
    }

    @Test func `each form that Core Data writes is accepted, and each other one is found`() throws {
        let (folder, path) = try store()
        defer { withExtendedLifetime(folder) {} }
        let faults = try faults(path)
        func accepted(_ name: String) -> Set<String> {
            Set(Self.literals).subtracting(faults[name] ?? []).subtracting(["NULL"])
        }
        // The affinity of an INTEGER column makes a number of '12'.
        let whole = ["0", "1", "2", "-32768", "32767", "'12'"]
        #expect(accepted("i16") == Set(whole))
        #expect(accepted("i32") == Set(whole + ["70000", "-70000"]))
        let wide = ["9223372036854775807", "-9223372036854775808"]
        #expect(accepted("i64") == Set(whole + wide + ["70000", "-70000", "2147483648"]))
        #expect(accepted("money").isSuperset(of: wide))
        #expect(accepted("flag") == ["0", "1"])
        let texts = ["''", "'abc'", "'NaN'", "'12,5'", "'true'", "CAST(x'c3a9' AS TEXT)", "CAST(x'610062' AS TEXT)"]
        let blobs = ["x''", "x'01'", "x'0141'", "x'02'", "x'0241424300'", "x'02414243'", "x'03'", "zeroblob(17)"]
        // A date that is a text is what was overlooked.
        for name in ["real", "single", "day", "money"] {
            #expect(faults[name]?.isSuperset(of: texts + blobs) == true, "\(name)")
            #expect(accepted(name).isSuperset(of: whole + ["70000", "2147483648", "1.5", "0.1"]), "\(name)")
        }
        #expect(accepted("day").isSuperset(of: ["9e999", "-9e999", "1e300"]))
        #expect(accepted("money").isDisjoint(with: ["9e999", "-9e999", "1e300"]))
        for name in ["name", "link"] {
            #expect(accepted(name).isSuperset(of: texts + ["'12'", "CAST(x'efbfbd' AS TEXT)"]))
            #expect(
                faults[name]?.isSuperset(
                    of: blobs + ["CAST(x'ff' AS TEXT)", "CAST(x'61c3' AS TEXT)", "CAST(x'6100ff' AS TEXT)"]) == true)
        }
        #expect(accepted("key") == ["zeroblob(16)"])
        for name in ["data", "form"] { #expect(accepted(name) == Set(blobs + ["zeroblob(16)"])) }
        #expect(accepted("file") == ["x'01'", "x'0141'", "x'0241424300'"])
    }

    /// The decoder, through which every dump and every object goes, is code of its own.
    @Test func `what the decoder cannot read is found, and nothing else but what is too wide`() throws {
        let (folder, path) = try store()
        defer { withExtendedLifetime(folder) {} }
        let (faults, model) = (try faults(path), try Self.model())
        try ReadOnlyStore.read(path) { probe in
            let layout = try StoreLayout(actual: StoreSnapshot(probe.connection), model: model)
            for attribute in model.entities[0].attributes {
                let column = try #require(layout.column(forAttribute: attribute.name, in: model.entities[0]))
                let decoder = AttributeDecoder(
                    type: attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage
                ) { _ in [0] }
                var unreadable: Set<String> = []
                try probe.connection.forEachRow("SELECT Z_PK, \(column.quotedName) FROM ZITEM") { row in
                    let literal = Self.literals[Int(row.integer(0)) - 1]
                    switch (decoder.value(row, 1), attribute.type) {
                    case (.undecodable, _): unreadable.insert(literal)
                    case (.attribute(.integer(let number)?), .integer16) where Int16(exactly: number) == nil,
                        (.attribute(.integer(let number)?), .integer32) where Int32(exactly: number) == nil:
                        unreadable.insert(literal)
                    default: break
                    }
                }
                #expect(faults[attribute.name] ?? [] == unreadable, "\(attribute.name)")
            }
        }
    }

    @Test func `a finding counts all values, and names the first keys; the values only where they are asked for`()
        throws
    {
        let library = try LibraryStore()
        try library.shell(
            """
            DROP INDEX "Z_Tag_UNIQUE_name"; UPDATE ZSHELF SET ZCODE = 'secret ' || Z_PK; UPDATE ZBOOK SET Z_OPT = 'often' WHERE Z_PK = 7;
            UPDATE ZTAG SET ZNAME = 'shared name' WHERE Z_PK IN (3, 5)
            """)
        let plain = try StoreAudit(library.path, model: library.version.model)
        let found = try #require(plain.findings.first { $0.code == "value-unreadable" && $0.place == "Shelf.code" })
        #expect(found.message.hasPrefix("10 values of Shelf.code cannot be read as an Integer"))
        #expect(found.message.contains("10 stored as text"))
        #expect(found.keys == Array(1...10) && found.values == [] && found.remedy.contains("prints what is stored"))
        #expect(plain.findings.contains { $0.code == "value-unreadable" && $0.keys == [7] })
        #expect(plain.findings.first { $0.code == "not-unique" }?.keys == [3, 5])
        #expect(!"\(plain.findings)".contains("secret") && !"\(plain.findings)".contains("shared name"))
        let whole = try StoreAudit(library.path, model: library.version.model, withValues: true)
        let shown = try #require(whole.findings.first { $0.place == "Shelf.code" })
        #expect(shown.values.first == "1: 'secret 1'" && !shown.remedy.contains("prints what is stored"))
        #expect(whole.findings.first { $0.code == "not-unique" }?.values == ["3: 'shared name'", "5: 'shared name'"])
        #expect(!StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version])).isWell)
    }
}

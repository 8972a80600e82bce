import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultSQLite
import MoultStore

/// A model of so much of everything as files, and a store of its first version.
struct GrowthStore {
    let folder: String
    var model: String { folder + "/Model.xcdatamodeld" }
    var store: String { folder + "/store.sqlite" }
    /// A copy of the store that a verb may change.
    var copy: String { folder + "/copy/store.sqlite" }

    /// A rule that a tenth of the first entity's objects break, and three that none does.
    private static let rules = """
        {"format": 1, "rules": [
            {"name": "five", "entity": "E0", "predicate": "a1 != 5", "fix": "quarantine"},
            {"name": "linked", "entity": "E1", "orphan": "next"},
            {"name": "alone", "entity": "E1", "unique": ["a0", "next"]},
            {"name": "rooted", "entity": "E1", "noCycle": "parent"}
        ]}
        """

    /// The command's words with the paths of this store.
    func arguments(of command: GrowthCommand) throws -> [String] {
        let place = URL(fileURLWithPath: copy).deletingLastPathComponent().path
        return try command.words.map { word in
            switch word {
            case "STORE": copy
            case "MODEL": model
            case "RULES": folder + "/rules.json"
            case "NEW": place + "/new"
            case "BACKUP": try FileManager.default.contentsOfDirectory(atPath: copy + ".moult/backups").max() ?? ""
            default: word
            }
        }
    }

    func change(_ sql: String) throws {
        let connection = try Connection(copy, mode: .readWrite)
        defer { connection.close() }
        try connection.run(sql)
    }

    init(_ size: GrowthSize, in folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names = (0..<size.versions).map { "V\(String(1_000 + $0).dropFirst())" }
        for (version, name) in names.enumerated() {
            let path = "\(model)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try size.model(version: version).xmlContents().write(
                toFile: path + "/contents", atomically: false, encoding: .utf8)
        }
        try """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(names.last ?? "").xcdatamodel</string></dict></plist>
        """.write(toFile: model + "/.xccurrentversion", atomically: false, encoding: .utf8)
        try Self.rules.write(toFile: folder + "/rules.json", atomically: false, encoding: .utf8)
        let maker = try StoreCreator(ModelVersion(names: [names[0]], model: size.model(version: 0)))
        try maker.make(at: store)
        try fill(size, maker.layout)
        for _ in 0..<size.backups { _ = try Migrator().backUp(store, version: names[0]) }
    }

    private func fill(_ size: GrowthSize, _ layout: StoreLayout) throws {
        let connection = try Connection(store, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("PRAGMA synchronous = OFF; BEGIN")
        for table in layout.tables {
            let columns = table.columns.filter {
                if case .attribute(_, let name) = $0.role { name != "body" } else { false }
            }
            let keys = table.columns.filter { if case .toOne = $0.role { true } else { false } }.map(\.name)
            let number = layout.entityNumbers[table.rootEntityName] ?? 0
            let names = (["Z_PK", "Z_ENT", "Z_OPT"] + keys + columns.map(\.name)).map(\.quotedName)
            // A parent is the object before: all of an entity are one long chain.
            let values =
                ["i", "\(number)", "1"] + keys.map { $0 == "ZPARENT" ? "nullif(i - 1, 0)" : "i" }
                + columns.map { $0.type == "VARCHAR" ? "'text ' || i" : "i % 2" }
            try connection.run(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(size.rows)) \
                INSERT INTO \(table.name.quotedName) (\(names.joined(separator: ", "))) \
                SELECT \(values.joined(separator: ", ")) FROM n
                """)
        }
        for join in layout.joinTables {
            try connection.run(
                """
                WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(size.links - 1)) \
                INSERT OR IGNORE INTO \(join.name.quotedName) (\(join.keyColumns.map(\.quotedName).joined(separator: ", "))) \
                SELECT 1 + i % \(size.rows), 1 + (i % \(size.rows) + i / \(size.rows)) % \(size.rows) FROM n
                """)
        }
        try makeFiles(size.files, connection)
        try connection.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(max(size.rows, size.files)) WHERE Z_ENT < 16000")
        try connection.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Objects of the first entity with a file each.
    private func makeFiles(_ count: Int, _ connection: Connection) throws {
        guard count > 0 else { return }
        let data = folder + "/.store_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let number = try connection.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'E0'") ?? 0
        for key in 0..<count {
            let name = UUID().uuidString
            try Data(repeating: UInt8(key % 251), count: 20_000).write(to: URL(fileURLWithPath: "\(data)/\(name)"))
            try connection.run(
                "INSERT OR REPLACE INTO ZE0 (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (?, ?, 1, ?)",
                [.integer(Int64(key + 1)), .integer(number), .blob([2] + Array(name.utf8) + [0])])
        }
    }

    func makeCopy() throws {
        let place = URL(fileURLWithPath: copy).deletingLastPathComponent().path
        for used in [place, model + ".moult.lock", folder + "/moult.lock"] {
            _ = try? FileManager.default.removeItem(atPath: used)
        }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        for name in ["store.sqlite", ".store_SUPPORT", "store.sqlite.moult"]
        where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(place)/\(name)")
        }
    }

    func remove() { _ = try? FileManager.default.removeItem(atPath: folder) }
}

import Foundation
import MoultModel

/// Each kind of change by Moult and by other tools, and what each of them loses on the way.
extension Benchmarks {
    private static let peers = ["sqlite3", "sqlite-utils", "alembic", "django"]

    /// What an app may have beside the table of the objects: children that go with their item, and a trigger.
    private static let company = """
        CREATE TABLE CHILD (ID INTEGER PRIMARY KEY, ITEM INTEGER NOT NULL REFERENCES ZITEM (Z_PK) ON DELETE CASCADE);
        INSERT INTO CHILD (ITEM) SELECT Z_PK FROM ZITEM LIMIT 1000;
        CREATE TABLE GONE (ITEM INTEGER);
        CREATE TRIGGER NOTE_GONE AFTER DELETE ON ZITEM BEGIN INSERT INTO GONE VALUES (OLD.Z_PK); END;
        PRAGMA wal_checkpoint(TRUNCATE)
        """

    func peers(_ store: BenchmarkStore) throws -> [Figure] {
        guard FileManager.default.isExecutableFile(atPath: python) else {
            skip("there is no \(python); see Scripts/prerequisites --benchmarks")
            return []
        }
        let shared = BenchmarkStore(path: try store.copy("shared"), rows: store.rows)
        defer { BenchmarkStore.remove(shared.path) }
        try Command.shell(shared.path, Self.company).run()
        return try measured().filter(\.options.isEmpty).flatMap { try compare($0, shared) }
    }

    private func compare(_ kind: ChangeKind, _ store: BenchmarkStore) throws -> [Figure] {
        let statements = try kind.statements ?? RebuildScript(store.path).statements
        let model = try bundle(kind)
        var seconds: [String: [Double]] = [:]
        var losses: [String: String] = [:]
        try rounds(min(settings.rounds, 3)) { round in
            for tool in ["moult"] + Self.peers {
                let copy = try BenchmarkStore(path: store.path, rows: store.rows).copy("peer")
                defer { BenchmarkStore.remove(copy) }
                sync()
                do {
                    let time =
                        switch tool {
                        case "moult": try migrate(copy, model).seconds
                        case "sqlite3": try Command.shell(copy, "BEGIN; \(statements); COMMIT").run().seconds
                        default: try Command(python, ["-B", script, tool, kind.name, copy]).run().json.number("run")
                        }
                    seconds[tool, default: []].append(time)
                    if round == 0 { losses[tool] = try lost(from: store.path, in: copy, kind) }
                } catch {
                    losses[tool] = "fails: \(error)".split(separator: "\n").last.map(String.init)
                }
            }
        }
        for tool in ["moult"] + Self.peers { note("\(kind.name), \(tool): \(losses[tool, default: ""])") }
        return Self.peers.filter { seconds[$0] != nil }.map { tool in
            Figure(
                name: "\(kind.name): whole command / \(tool)", rows: store.rows, ours: seconds["moult", default: []],
                theirs: seconds[tool, default: []], options: ["--kind", kind.name],
                words: ["losses": losses[tool, default: ""]])
        }
    }

    /// What a look at the catalogue and the rows finds missing or other than before.
    private func lost(from before: String, in after: String, _ kind: ChangeKind) throws -> String {
        let questions = [
            ("rows", "SELECT count(*) FROM ZITEM"),
            ("children", "SELECT count(*) FROM CHILD"),
            (
                "foreign key of the children",
                "SELECT \"table\", \"to\", on_delete FROM pragma_foreign_key_list('CHILD')"
            ),
            ("trigger", "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'ZITEM'"),
            (
                "an index",
                "SELECT name FROM sqlite_master WHERE name IN ('Z_Item_createdAt', 'Z_Item_title') ORDER BY 1"
            ),
            (
                "declared types of untouched columns",
                """
                SELECT group_concat(name || ' ' || type) FROM (SELECT name, upper(type) AS type FROM pragma_table_info('ZITEM') \
                WHERE name IN ('Z_ENT', 'ZISDONE', 'ZCREATEDAT', 'ZPRICE', 'ZAMOUNT', 'ZTITLE', 'ZIDENTIFIER') ORDER BY name)
                """
            ),
            (
                "values of untouched columns",
                "SELECT total(ZAMOUNT), total(ZPRICE), sum(length(ZTITLE)), count(DISTINCT typeof(ZAMOUNT)) FROM ZITEM"
            ),
            ("journal mode", "PRAGMA journal_mode"), ("soundness", "PRAGMA quick_check(1)"),
        ]
        let differing = try questions.filter { _, sql in
            try Command.shell(before, sql).run().output != Command.shell(after, sql).run().output
        }
        return differing.isEmpty ? "loses nothing" : "loses \(differing.map(\.0).joined(separator: ", "))"
    }

    /// The Python that has the other tools.
    private var python: String { ".build/peers/bin/python" }
    private var script: String { "Benchmarks/Python/peers.py" }
}

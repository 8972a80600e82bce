import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles

/// What a person waits for who looks after a store: `validate`, `doctor` and `import` over all objects.
extension Benchmarks {
    func care() throws -> [Figure] {
        guard FileManager.default.isExecutableFile(atPath: moult) else {
            skip("there is no \(moult)")
            return []
        }
        let rows = settings.rows
        let place = folder + "/care"
        let (empty, store, model) = (place + "/empty.sqlite", place + "/store.sqlite", place + "/Model.xcdatamodeld")
        try FileManager.default.createDirectory(atPath: model + "/1.xcdatamodel", withIntermediateDirectories: true)
        defer { _ = try? FileManager.default.removeItem(atPath: place) }
        try ObjectsData.model().xmlContents()
            .write(toFile: model + "/1.xcdatamodel/contents", atomically: true, encoding: .utf8)
        try Command.child("objects", "make", empty).run()
        try Command.shell(empty, "PRAGMA wal_checkpoint(TRUNCATE)").run()
        try FileManager.default.copyItem(atPath: empty, toPath: store)
        try Command.shell(store, Self.items(rows)).run()
        return try checks(store, model, rows) + importing(store, empty, model, rows)
    }

    private func checks(_ store: String, _ model: String, _ rows: Int) throws -> [Figure] {
        var times: [String: [Double]] = [:]
        try rounds { round in
            let works = ["validate", "doctor", "statements"]
            for offset in works.indices {
                let work = works[(round + offset) % works.count]
                let result =
                    try work == "statements"
                    ? Command.shell(store, Self.statements).run()
                    : Command(moult, [work, store, "--model", model, "--config", "none"]).run()
                times[work, default: []].append(result.seconds)
                let isRight =
                    switch work {
                    case "validate": result.output.contains("The store is sound")
                    case "statements": result.output == Self.answers(rows)
                    default: true
                    }
                guard isRight else { throw Self.wrong("\(work) printed \(result.output)") }
            }
        }
        func figure(_ name: String, _ ours: String, _ theirs: String) -> Figure {
            Figure(name: name, rows: rows, ours: times[ours, default: []], theirs: times[theirs, default: []])
        }
        return [
            figure("validate / its checks in the sqlite3 shell", "validate", "statements"),
            figure("doctor / validate", "doctor", "validate"),
        ]
    }

    /// The rows that an export has written, into a store without items, beside their insertion by a context.
    private func importing(_ store: String, _ empty: String, _ model: String, _ rows: Int) throws -> [Figure] {
        let place = URL(fileURLWithPath: store).deletingLastPathComponent().path
        let (files, copy) = (place + "/files", place + "/copy.sqlite")
        try Command(moult, ["export", store, "--out", files]).run()
        // The new store has the owners already.
        try FileManager.default.removeItem(atPath: files + "/Owner.csv")
        var (ours, theirs): ([Double], [Double]) = ([], [])
        try rounds(min(settings.rounds, 3)) { round in
            let imports = {
                let words = ["import", copy, files, "--model", model, "--config", "none"]
                ours.append(try Command(self.moult, words).run().seconds)
            }
            let inserts = {
                theirs.append(try Command.child("objects", "insert", copy, String(rows)).run().json.number("run"))
            }
            for part in round.isMultiple(of: 2) ? [imports, inserts] : [inserts, imports] {
                removeStore(copy)
                try FileManager.default.copyItem(atPath: empty, toPath: copy)
                sync()
                try part()
                let count = try Command.shell(copy, "SELECT count(*), count(ZOWNER) FROM ZITEM").run().output
                guard count == "\(rows)|\(rows)\n" else { throw Self.wrong("the store has \(count)") }
            }
            removeStore(copy)
        }
        return [
            Figure(
                name: "import / insertion by a context (speed)", rows: rows, ours: ours, theirs: theirs, isSpeed: true)
        ]
    }

    private static func wrong(_ what: String) -> MigrationError {
        MigrationError(.internal, "After all: \(what)", remedy: "Look at the store.")
    }

    /// The items of the objects' groups, made by SQLite itself.
    private static func items(_ rows: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows - 1)) \
        INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZCOUNT, ZCREATEDAT, ZIDENTIFIER, ZISDONE, ZNOTE, ZPAYLOAD, \
        ZPRICE, ZRANK, ZTITLE, ZOWNER) SELECT i + 1, 1, 1, i * 7919 % 1000000, i, i * 104729 % 1000000000 + 0.5, \
        randomblob(16), i % 2, iif(i % 3, 'A note of some words about item ' || i, NULL), randomblob(40), \
        i * 31 % 1000000 / 7.0, i % 1000, 'Item ' || i || ' of the shelf', i % \(ObjectsData.owners) + 1 FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows) WHERE Z_NAME = 'Item';
        PRAGMA wal_checkpoint(TRUNCATE)
        """
    }

    /// What `validate` looks for in this store, as SQLite's users would ask it: the pages and indexes, the numbers of
    /// entities, the keys, the references, and the types and ranges of values.
    private static let statements = """
        PRAGMA integrity_check;
        SELECT count(*), total(Z_ENT <> 1), total(Z_OPT IS NULL OR typeof(Z_OPT) <> 'integer'), max(Z_PK) FROM ZITEM;
        SELECT count(*), total(Z_ENT <> 2), total(Z_OPT IS NULL OR typeof(Z_OPT) <> 'integer'), max(Z_PK) FROM ZOWNER;
        SELECT count(*) FROM ZITEM AS i LEFT JOIN ZOWNER AS o ON o.Z_PK = i.ZOWNER
            WHERE i.ZOWNER IS NOT NULL AND o.Z_PK IS NULL;
        SELECT total(typeof(ZAMOUNT) NOT IN ('null', 'integer', 'real', 'text')),
            total(typeof(ZCOUNT) NOT IN ('null', 'integer') OR ZCOUNT NOT BETWEEN -2147483648 AND 2147483647),
            total(typeof(ZCREATEDAT) NOT IN ('null', 'integer', 'real')),
            total(typeof(ZIDENTIFIER) NOT IN ('null', 'blob') OR length(ZIDENTIFIER) <> 16),
            total(typeof(ZISDONE) NOT IN ('null', 'integer') OR ZISDONE NOT IN (0, 1)),
            total(typeof(ZNOTE) NOT IN ('null', 'text')), total(typeof(ZPAYLOAD) NOT IN ('null', 'blob')),
            total(typeof(ZPRICE) NOT IN ('null', 'integer', 'real')),
            total(typeof(ZRANK) NOT IN ('null', 'integer') OR ZRANK NOT BETWEEN -32768 AND 32767),
            total(typeof(ZTITLE) NOT IN ('null', 'text')) FROM ZITEM;
        SELECT total(typeof(ZNAME) NOT IN ('null', 'text')) FROM ZOWNER
        """

    private static func answers(_ rows: Int) -> String {
        let owners = ObjectsData.owners
        return """
            ok
            \(rows)|0.0|0.0|\(rows)
            \(owners)|0.0|0.0|\(owners)
            0
            \(Array(repeating: "0.0", count: 10).joined(separator: "|"))
            0.0

            """
    }
}

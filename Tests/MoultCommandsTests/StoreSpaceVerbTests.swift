import TestSupport
import Testing

/// What doctor says about the space in a store, and the commands that it names.
struct StoreSpaceVerbTests {
    /// A store with a long history, and the pages of deleted users.
    private func store() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let made = try moult(
            "create", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--history", "--fill", "20"
        )
        try #require(made.exit == 0, "\(made)")
        _ = try SQLiteShell.run(
            moult.folder.path + "/forum.sqlite",
            """
            INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) SELECT value, 16002, 1, value * 86400.0
                FROM generate_series(1, 3000);
            INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
                SELECT value, 16001, 1, 2, 4, value + 100, value FROM generate_series(1, 3000);
            INSERT OR IGNORE INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 3000), (16002, 'TRANSACTION', 0, 3000),
                (16003, 'TRANSACTIONSTRING', 0, 0);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3000 WHERE Z_ENT IN (16001, 16002);
            CREATE TABLE filler (text); INSERT INTO filler SELECT hex(zeroblob(2000)) FROM generate_series(1, 300);
            DROP TABLE filler
            """)
        return moult
    }

    private let model = ["--model", "Forum.xcdatamodeld"]

    /// The command between backticks after the arrow that follows a finding.
    private func command(_ code: String, in text: String) throws -> [String] {
        let lines = text.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("[\(code)]") }, "\(text)")
        let line = try #require(lines[place...].first { $0.contains("→ ") })
        let words = try #require(line.split(separator: "`").dropFirst().first).split(separator: " ").map(String.init)
        #expect(words.first == "moult", "\(line)")
        return Array(words.dropFirst())
    }

    @Test func `history and free pages are named, and the commands that doctor prints remove them`() throws {
        let moult = try store()
        let path = moult.folder.path + "/forum.sqlite"
        func count(_ sql: String) throws -> Int { Int(try SQLiteShell.run(path, sql).dropLast()) ?? -1 }
        let users = try count("SELECT count(*) FROM ZUSER")
        let doctor = try moult.run(Tool.path, ["doctor", "forum.sqlite", "--to", "Forum"] + model)
        #expect(doctor.exit == 0 && doctor.output.contains("3,000 transactions"), "\(doctor)")
        let trim = try command("history-large", in: doctor.output)
        #expect(trim.contains("--before") && trim.contains("history,space"), "\(trim)")
        let free = try command("mostly-free", in: doctor.output)
        #expect(free.contains("space"), "\(free)")
        #expect(try count("PRAGMA freelist_count") > 100)
        let given = try moult.run(Tool.path, free)
        #expect(given.exit == 0 && given.output.contains(" became "), "\(given)")
        #expect(try count("PRAGMA freelist_count") == 0)
        let trimmed = try moult.run(Tool.path, trim)
        #expect(trimmed.exit == 0 && trimmed.output.contains("will be deleted") == false, "\(trimmed)")
        #expect(try count("SELECT count(*) FROM ATRANSACTION") == 1 && count("SELECT count(*) FROM ACHANGE") == 1)
        #expect(try count("PRAGMA freelist_count") == 0 && count("SELECT count(*) FROM ZUSER") == users)
        #expect(try moult.run(Tool.path, ["validate", "forum.sqlite"] + model).exit == 0)
        let after = try moult.run(Tool.path, ["doctor", "forum.sqlite", "--to", "Forum"] + model)
        #expect(!after.output.contains("history-large") && !after.output.contains("mostly-free"), "\(after)")
    }

    @Test func `a date is for history, and must be one`() throws {
        let moult = try store()
        for words in [["--before", "2024-01-01"], ["--only", "indexes", "--before", "2024-01-01"]] {
            let result = try moult.run(Tool.path, ["repair", "forum.sqlite"] + words + model)
            #expect(result.exit == 2 && result.errors.contains("add --only history"), "\(result)")
        }
        let result = try moult.run(
            Tool.path, ["repair", "forum.sqlite", "--only", "history", "--before", "yesterday"] + model)
        #expect(result.exit == 2 && result.errors.contains("such as 2024-01-01"), "\(result)")
    }

    @Test(arguments: [
        ["doctor"], ["validate"], ["export", "-o", "csv"], ["anonymise", "-o", "copy.sqlite"], ["repair", "--dry-run"],
        ["backup", "create"], ["backup", "verify"],
    ])
    func `a program reads events from every verb that may take long`(words: [String]) throws {
        let moult = try store()
        let split = words.first == "backup" ? 2 : 1
        let arguments = words.prefix(split) + ["forum.sqlite"] + words.dropFirst(split) + ["--events"]
        let result = try moult.run(Tool.path, Array(arguments) + (words.last == "verify" ? [] : model))
        #expect(result.exit == 0, "\(result)")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("{\"format\":1,\"event\":") }, "\(result)")
        // A backup says at once what it has made; the others report what takes longer than this small store does.
        #expect(!lines.isEmpty || words != ["backup", "create"], "\(result)")
    }
}

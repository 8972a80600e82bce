import Foundation
import TestSupport
import Testing

/// What `Scripts/prerequisites --readers` installs from PyPI: DuckDB, pandas and Datasette.
private enum DataTools {
    static let bin = packageRoot.appendingPathComponent(".build/readers/bin").path

    static let areInstalled: Bool = {
        if FileManager.default.isExecutableFile(atPath: bin + "/datasette") { return true }
        print(
            "SKIPPED: no DuckDB, pandas and Datasette in .build/readers; Scripts/prerequisites --readers installs them")
        return false
    }()

    /// - Returns: how many values the witness has compared.
    static func compare(_ arguments: [String]) throws -> Int {
        let run = try ChildProcess.run(bin + "/python", [Witness.folder + "/tools.py"] + arguments)
        #expect(run.exit == 0, "\(run)")
        return run.output.split(separator: " ").first.flatMap { Int($0) } ?? 0
    }
}

/// Programs of other people read what Moult writes.
@Suite("Exports and copies in DuckDB, pandas and Datasette", .enabled(if: DataTools.areInstalled))
struct DataToolTests {  // tier: long
    private func export(_ store: String, with moult: Tool, _ options: [String] = []) throws {
        for (format, name) in [("csv", "csv"), ("jsonl", "jsonl"), ("sqlite", "plain.sqlite")] {
            let made = try moult.run(
                Tool.path,
                ["export", store, "--format", format, "-o", name] + (format == "csv" ? ["--exact"] : []) + options)
            #expect(made.exit == 0, "\(made)")
        }
    }

    @Test func `DuckDB reads from CSV and JSON Lines what SQLite reads from the database`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let texts = ["NULL", "", "null", "\"", "a,b", "two\nlines", "x'00'", "é👩‍👩‍👧", " space ", "1e5", "NaN"]
        for (place, text) in texts.enumerated() {
            _ = try SQLiteShell.run(
                moult.folder.path + "/forum.sqlite",
                "UPDATE ZPOST SET ZTEXT = '\(text.replacingOccurrences(of: "'", with: "''"))' WHERE Z_PK = \(place + 1)"
            )
        }
        try export("forum.sqlite", with: moult)
        #expect(try DataTools.compare(["exports", moult.folder.path]) > 2_000)
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `real stores too`() throws {
        let stores = CorpusStores.distinct
        let chosen = Corpus.sample(stores, every: 9)
        var compared = 0
        for store in chosen {
            for model in CorpusStores.models(of: store) {
                let moult = Tool(folder: try ScratchFolder())
                let copy = try moult.folder.copyStore(store)
                try export(copy, with: moult, model.map { ["--model", $0] } ?? [])
                compared += try DataTools.compare(["exports", moult.folder.path])
            }
        }
        print("EXPORTS: DuckDB reads \(compared) values of \(chosen.count) stores")
        #expect(compared > 100)
    }

    @Test func `pandas and Datasette read the views of a copy`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        #expect(try moult("views", "forum.sqlite", "-o", "copy.sqlite").exit == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/copy.sqlite"))
        #expect(
            try DataTools.compare(
                ["views", moult.folder.path + "/copy.sqlite", "Forum", "Post", "User", "Thread", "Thread_posts"])
                > 2_000)
        #expect(try Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/copy.sqlite")) == before)
    }

    @Test func `the documented command makes Parquet that DuckDB reads back as the export`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try export("forum.sqlite", with: moult)
        let page = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/Export.md"), encoding: .utf8)
        let command = try #require(page.split(separator: "\n").first { $0.contains("TO 'Post.parquet'") })
        let made = try moult.shell("PATH=\(DataTools.bin):$PATH; " + command)
        #expect(made.exit == 0, "\(made)")
        let folder = moult.folder.path
        #expect(
            try DataTools.compare(["parquet", folder + "/Post.parquet", folder + "/plain.sqlite", "Post"]) > 1_000)
    }
}

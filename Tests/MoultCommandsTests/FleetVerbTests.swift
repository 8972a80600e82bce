import Foundation
import TestSupport
import Testing

@Suite("moult fleet")
struct FleetVerbTests {  // tier: long
    /// A tool beside a folder `s` of small stores of the forum's first version, with `seed.sqlite` as each of them was.
    private func besideFleet(_ count: Int, shards: Int = 1) throws -> Tool {
        let moult = try Tool.besideForumModel()
        let made = try moult(
            "create", "seed.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows",
            "Forum=2,User=5,Thread=5,Post=20")
        try #require(made.exit == 0, "\(made.errors)")
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/s", withIntermediateDirectories: true)
        for number in 1...count {
            try FileManager.default.copyItem(
                atPath: moult.folder.path + "/seed.sqlite", toPath: moult.folder.path + "/s/\(number).db")
        }
        let plan = try moult(
            "fleet", "plan", "s", "--model", "Forum.xcdatamodeld", "-o", "fleet.jsonl", "--shards", "\(shards)")
        try #require(plan.exit == 0, "\(plan)")
        return moult
    }

    private func counts(_ moult: Tool, _ more: String...) throws -> [String: Int] {
        let status = try moult.run(Tool.path, ["fleet", "status", "fleet.jsonl", "--json"] + more)
        return try #require(try status.document["counts"] as? [String: Int], "\(status)")
    }

    /// The rows, by the shell of SQLite; what says which version it is left out.
    private func rows(_ path: String) throws -> String {
        try SQLiteShell.run(path, ".dump").split(separator: "\n").filter { !$0.contains("Z_METADATA") }
            .joined(separator: "\n")
    }

    @Test func `every store is migrated once as moult migrate does it, and taken back row by row`() throws {
        let moult = try besideFleet(6, shards: 2)
        let folder = moult.folder.path
        let before = try rows(folder + "/s/1.db")
        #expect(!FileManager.default.fileExists(atPath: folder + "/fleet.jsonl.part"))
        let run = try moult("fleet", "run", "fleet.jsonl", "--json")
        #expect(run.exit == 0, "\(run)")
        #expect(try run.document["counts"] as? [String: Int] == ["done": 6])
        try FileManager.default.copyItem(atPath: folder + "/seed.sqlite", toPath: folder + "/alone.sqlite")
        #expect(try moult("migrate", "alone.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
        let migrated = try rows(folder + "/alone.sqlite")
        for number in 1...6 { #expect(try rows(folder + "/s/\(number).db") == migrated) }
        let again = try moult("fleet", "run", "fleet.jsonl", "--json")
        #expect(try again.exit == 0 && again.document["skipped"] as? Int == 6)
        // One by a list, then the others.
        try "s/1.db\n".write(toFile: folder + "/list", atomically: true, encoding: .utf8)
        #expect(try moult("fleet", "rollback", "fleet.jsonl", "--list", "list").exit == 0)
        #expect(try rows(folder + "/s/1.db") == before && rows(folder + "/s/2.db") == migrated)
        #expect(try moult("fleet", "rollback", "fleet.jsonl").exit == 0)
        for number in 1...6 { #expect(try rows(folder + "/s/\(number).db") == before) }
        #expect(try counts(moult) == ["rolledBack": 6])
        #expect(try moult("fleet", "run", "fleet.jsonl", "--retry", "rolledBack").exit == 0)
        #expect(try counts(moult) == ["done": 6])
    }

    @Test func `what became of a store since it was planned is said of this store, and the others go on`() throws {
        let moult = try besideFleet(6)
        let folder = moult.folder.path + "/s"
        try FileManager.default.removeItem(atPath: folder + "/1.db")
        // Another store, the same store as another file, one that an app has written to, one that was migrated.
        #expect(
            try moult("create", "other.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum").exit == 0)
        try FileManager.default.removeItem(atPath: folder + "/2.db")
        try FileManager.default.moveItem(atPath: moult.folder.path + "/other.sqlite", toPath: folder + "/2.db")
        try FileManager.default.removeItem(atPath: folder + "/3.db")
        try FileManager.default.copyItem(atPath: moult.folder.path + "/seed.sqlite", toPath: folder + "/3.db")
        _ = try SQLiteShell.run(folder + "/4.db", "UPDATE ZUSER SET ZNAME = 'new' WHERE Z_PK = 1")
        #expect(try moult("migrate", "s/5.db", "--model", "Forum.xcdatamodeld").exit == 0)
        let run = try moult("fleet", "run", "fleet.jsonl")
        #expect(run.exit == 1, "\(run)")
        #expect(try counts(moult) == ["changed": 1, "done": 4, "vanished": 1])
        #expect(run.errors.contains("/1.db") && run.errors.contains("/2.db") && !run.errors.contains("/3.db"))
        // A person has looked at the other store.
        #expect(try moult("fleet", "run", "fleet.jsonl", "--retry", "changed").exit == 1)
        #expect(try counts(moult) == ["done": 5, "vanished": 1])
        // What something else has migrated is not the run's to take back.
        #expect(try moult("fleet", "rollback", "fleet.jsonl").exit == 0)
        #expect(try counts(moult) == ["done": 1, "rolledBack": 4, "vanished": 1])
        let version = try moult("status", "s/5.db", "--model", "Forum.xcdatamodeld", "--json").document["version"]
        #expect(version as? String == "Forum 3")
    }

    @Test func `a damaged store, a torn result and a store with two names stop no other, and have a remedy`() throws {
        let moult = try besideFleet(5)
        let folder = moult.folder.path
        let root = try #require(
            Int(
                try SQLiteShell.run(folder + "/s/1.db", "SELECT rootpage FROM sqlite_master WHERE name = 'ZPOST'")
                    .trimmingCharacters(in: .newlines)))
        let file = try #require(FileHandle(forUpdatingAtPath: folder + "/s/1.db"))
        try file.seek(toOffset: UInt64((root - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        try FileManager.default.linkItem(atPath: folder + "/s/2.db", toPath: folder + "/second-name")
        let run = try moult("fleet", "run", "fleet.jsonl")
        #expect(run.exit == 1)
        let status = try moult("fleet", "status", "fleet.jsonl", "--html", "page.html", "--json", "--check")
        #expect(status.exit == 1)
        #expect(try status.document["counts"] as? [String: Int] == ["done": 3, "refused": 2])
        let causes = try #require(try status.document["causes"] as? [[String: Any]])
        #expect(Set(causes.compactMap { $0["code"] as? String }) == ["hardLinked", "storeCorrupted"])
        #expect(causes.allSatisfy { ($0["remedy"] as? String)?.isEmpty == false })
        let page = try String(contentsOfFile: folder + "/page.html", encoding: .utf8)
        #expect(page.contains("hardLinked") && !page.contains("<script") && !page.contains("http"))
        // A result that was torn is found out again, from the store, and nothing is done twice.
        let shard = folder + "/fleet.migrate/shard-0"
        try FileManager.default.removeItem(atPath: shard + "/results.jsonl")
        try Data("{\"format\":1,\"n\":3".utf8).write(to: URL(fileURLWithPath: shard + "/3.json"))
        #expect(try moult("fleet", "status", "fleet.jsonl").output.contains("torn"))
        _ = try moult("fleet", "run", "fleet.jsonl")
        #expect(try counts(moult) == ["done": 3, "refused": 2])
        let runs = try #require(try moult("runs", "s/3.db", "--json").document["runs"] as? [[String: Any]])
        #expect(runs.count == 1)
    }

    @Test
    func `another manifest, another verb, a wrong shard, an edited manifest and a second run are refused`() throws {
        let moult = try besideFleet(2, shards: 2)
        let folder = moult.folder.path
        #expect(try moult("fleet", "run", "fleet.jsonl", "--shard", "0/2").exit == 0)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--shard", "0/3").exit == 2)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--shard", "2").exit == 2)
        let other = ["fleet", "run", "fleet.jsonl", "--verb", "validate", "--results", "fleet.migrate"]
        #expect(try moult.run(Tool.path, other).exit == 3)
        #expect(try moult("fleet", "plan", "s", "--model", "Forum.xcdatamodeld", "-o", "two.jsonl").exit == 0)
        let foreign = try moult("fleet", "run", "two.jsonl", "--results", "fleet.migrate")
        #expect(foreign.exit == 3 && foreign.errors.contains("another fleet"), "\(foreign)")
        #expect(try moult("fleet", "status", "two.jsonl", "--results", "fleet.migrate").exit == 3)
        var text = try String(contentsOfFile: folder + "/two.jsonl", encoding: .utf8)
        text = text.replacingOccurrences(of: "/1.db", with: "/9.db")
        try text.write(toFile: folder + "/edited.jsonl", atomically: true, encoding: .utf8)
        #expect(try moult("fleet", "run", "edited.jsonl").exit == 4)
        #expect(try moult("fleet", "run", "nothing.jsonl").exit == 4)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--verb", "browse").exit == 2)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--verb", "diff").exit == 2)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--retry", "done").exit == 2)
        try FileManager.default.createDirectory(
            atPath: folder + "/fleet.migrate/shard-1", withIntermediateDirectories: true)
        let lock = try ChildProcess(
            "python3",
            [
                "-c",
                "import fcntl,sys,time; f=open(sys.argv[1],'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)",
                folder + "/fleet.migrate/shard-1/lock",
            ], output: .read)
        defer { lock.kill() }
        #expect(String(decoding: lock.readSome(), as: UTF8.self).hasPrefix("held"))
        let second = try moult("fleet", "run", "fleet.jsonl", "--shard", "1")
        #expect(second.exit == 3 && second.errors.contains("shard 1"), "\(second)")
    }

    @Test func `a model that fits no store, and one that has changed since the plan, are named`() throws {
        let moult = try besideFleet(2)
        let model = moult.folder.path + "/Wrong.xcdatamodeld"
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/Forum.xcdatamodeld/Forum 3.xcdatamodel", toPath: model + "1.xcdatamodel")
        let plan = try moult(
            "fleet", "plan", "s", "--model", model + "1.xcdatamodel", "-o", "none.jsonl", "--json")
        #expect(plan.exit == 1)
        let groups = try #require(try plan.document["groups"] as? [[String: Any]])
        #expect(groups.count == 1 && groups.first?["state"] as? String == "unknown")
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum 3.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        try text.replacingOccurrences(of: "name=\"reputation\"", with: "name=\"fame\"")
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let run = try moult("fleet", "run", "fleet.jsonl")
        #expect(run.exit == 3 && run.errors.contains("not the one for which"), "\(run)")
    }

    @Test func `a canary waits for approval, and no other store is touched before`() throws {
        let moult = try besideFleet(10)
        let run = try moult("fleet", "run", "fleet.jsonl", "--canary", "20%", "--json")
        #expect(run.exit == 6)
        #expect(try run.document["end"] as? String == "canaryWaits")
        #expect(try counts(moult) == ["done": 2])
        let refused = try moult("fleet", "run", "fleet.jsonl")
        #expect(refused.exit == 3 && refused.errors.contains("--approve"), "\(refused)")
        #expect(try moult("fleet", "run", "fleet.jsonl", "--approve").exit == 0)
        #expect(try counts(moult) == ["done": 10])
    }

    @Test func `every shard has a canary, and one approval is for all of them`() throws {
        let moult = try besideFleet(8, shards: 2)
        let run = try moult("fleet", "run", "fleet.jsonl", "--canary", "50%", "--json")
        #expect(try run.exit == 6 && run.document["end"] as? String == "canaryWaits", "\(run)")
        #expect(try (run.document["canary"] as? [String: Int]) == ["stores": 4, "failures": 0])
        #expect(try counts(moult) == ["done": 4])
        let approved = try moult("fleet", "run", "fleet.jsonl", "--approve")
        #expect(approved.exit == 0, "\(approved)")
        #expect(try counts(moult) == ["done": 8])
    }

    @Test
    func `a store that takes too much time or memory is set aside after its allowed deaths, with the reason`() throws {
        let moult = try besideFleet(1)
        let made = try moult(
            "create", "s/large.db", "--model", "Forum.xcdatamodeld", "--version", "Forum", "--rows",
            "Forum=3,User=20,Thread=30,Post=40000")
        try #require(made.exit == 0)
        #expect(try moult("fleet", "plan", "s/large.db", "--model", "Forum.xcdatamodeld", "-o", "l.jsonl").exit == 0)
        let before = try rows(moult.folder.path + "/s/large.db")
        let run = try moult("fleet", "run", "l.jsonl", "--time", "50ms", "--deaths", "2")
        #expect(run.exit == 1, "\(run)")
        let status = try moult("fleet", "status", "l.jsonl", "--json")
        let causes = try #require(try status.document["causes"] as? [[String: Any]])
        #expect(causes.first?["code"] as? String == "died-time", "\(causes)")
        #expect(try rows(moult.folder.path + "/s/large.db") == before)
        let small = try moult("fleet", "run", "l.jsonl", "--memory", "1MB", "--deaths", "1", "--retry", "setAside")
        #expect(small.exit == 1, "\(small)")
        #expect(try rows(moult.folder.path + "/s/large.db") == before)
        #expect(try moult("fleet", "run", "l.jsonl", "--retry", "setAside").exit == 0)
    }

    @Test func `a full volume at one store fails this one; when there is room, the next run does it`() throws {
        let moult = try besideFleet(3)
        guard let volume = try SmallVolume(kilobytes: 1_024) else { return }
        try FileManager.default.copyItem(
            atPath: moult.folder.path + "/seed.sqlite", toPath: volume.path + "/full.db")
        let plan = try moult(
            "fleet", "plan", "s", volume.path, "--model", "Forum.xcdatamodeld", "-o", "two.jsonl")
        #expect(plan.exit == 0, "\(plan)")
        try volume.withRoom(30_000) {
            let run = try moult("fleet", "run", "two.jsonl")
            #expect(run.exit == 1, "\(run)")
            let counts = try moult("fleet", "status", "two.jsonl", "--json").document["counts"] as? [String: Int]
            #expect(counts == ["done": 3, "failed": 1])
        }
        try volume.remount("ro")
        let run = try moult("fleet", "run", "two.jsonl")
        #expect(run.exit == 1, "\(run)")
        try volume.remount("rw")
        #expect(try moult("fleet", "run", "two.jsonl", "--retry", "failed,refused").exit == 0)
    }

    @Test func `other verbs run on every store, with their options and the store's number`() throws {
        let moult = try besideFleet(3)
        let export = try moult(
            "fleet", "run", "fleet.jsonl", "--verb", "export", "--with", "-o", "--with", "out-{n}", "--json")
        #expect(export.exit == 0, "\(export)")
        for number in 1...3 {
            #expect(FileManager.default.fileExists(atPath: moult.folder.path + "/out-\(number)/Post.csv"))
        }
        #expect(try moult("fleet", "run", "fleet.jsonl", "--verb", "validate").exit == 0)
        #expect(try moult("fleet", "run", "fleet.jsonl", "--verb", "backup").exit == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: moult.folder.path + "/s/1.db.moult/backups").count == 1
        )
    }

    @Test func `the plan is printed without -o, and the lists of paths are read`() throws {
        let moult = try besideFleet(2)
        try "s/1.db\ns/nothing.db\n".write(
            toFile: moult.folder.path + "/list", atomically: true, encoding: .utf8)
        let plan = try moult("fleet", "plan", "--list", "list", "--model", "Forum.xcdatamodeld")
        #expect(plan.exit == 1 && plan.errors.contains("nothing.db"))
        #expect(plan.output.split(separator: "\n").count == 4)
        #expect(try moult("fleet", "plan", "--model", "Forum.xcdatamodeld").exit == 2)
        #expect(try moult("fleet", "plan", "s", "--model", "Forum.xcdatamodeld", "-o", "fleet.jsonl").exit == 2)
    }

    @Test func `an app's own tool, whose code may need threads, works on a fleet too`() throws {
        let moult = try besideFleet(1)
        let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appendingPathComponent("forum-reader")
            .path
        for number in 1...2 {
            let made = try moult.run(
                tool, ["create", "own\(number).db", "--version", "ForumReader 3", "--fill", "3"])
            try #require(made.exit == 0, "\(made)")
        }
        #expect(try moult.run(tool, ["fleet", "plan", "own*.db", "-o", "own.jsonl"]).exit == 0)
        let run = try moult.run(tool, ["fleet", "run", "own.jsonl"])
        #expect(run.exit == 0, "\(run)")
        // Plain moult has none of the app's code.
        #expect(try moult("fleet", "run", "own.jsonl", "--results", "plain").exit == 3)
    }
}

import Foundation
import MoultModel
import MoultModelFiles
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("Work from the page")
struct WorkTests {  // tier: long
    @Test func `a store is backed up, rehearsed, migrated and restored, each after a confirmation`() async throws {
        let forum = try ForumStore()
        let before = try forum.sql(".sha3sum")
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        #expect(try await visit.get("/").contains("2 versions behind"))

        let backup = try await visit.get("/confirm?do=backup")
        #expect(backup.contains(forum.path + ".moult/backups") && backup.contains("Nothing is replaced"))
        #expect(try await visit.press("Create backup", on: backup).contains("was written to"))
        let backups = try await visit.get("/backups")
        let name = try #require(backups.firstMatch(of: /<th scope="row"><code>([^<]*)</)?.output.1)
        #expect(try SQLiteShell.run("\(forum.path).moult/backups/\(name)/forum.sqlite", ".sha3sum").contains(before))

        let plan = try await visit.get("/plan")
        #expect(plan.contains("Forum 3") && plan.contains("Migrate …"))
        #expect(try await visit.press("Rehearse", on: plan).contains("Done."))
        #expect(try forum.sql(".sha3sum") == before)

        let confirmation = try await visit.get("/confirm?do=migrate")
        #expect(confirmation.contains("<code>\(forum.path)</code> will be replaced"))
        let migrated = try await visit.press("Migrate", on: confirmation, and: "&accept=yes")
        #expect(migrated.contains("Done."), "\(migrated)")
        #expect(try await visit.get("/").contains("of the newest version"))
        #expect(try forum.sql(".sha3sum") != before)
        #expect(try await visit.get("/history").contains("<td>migrate</td><td>done</td>"))

        let restore = try await visit.get("/confirm?do=restore&name=\(name)")
        #expect(restore.contains("<code>\(forum.path)</code> will be replaced") && restore.contains("Forum 3"))
        #expect(try await visit.press("Restore", on: restore).contains("again"))
        #expect(try forum.sql(".sha3sum") == before)
        #expect(try await visit.get("/").contains("2 versions behind"))
        // A confirmation serves once.
        #expect(try await visit.press("Restore", on: restore).contains("out of date"))
        #expect(try forum.sql("PRAGMA integrity_check") == "ok")
    }

    /// How a run ends that has died: the words of its end, and the versions that the store is behind then.
    @Test(arguments: [("repair", "The repair had not committed", 2), ("migrate", "Migrated Forum → Forum 2", 1)])
    func `a run whose process has died is named on every page, and ended as what it was`(
        operation: String, says: String, behind: Int
    ) async throws {
        let forum = try ForumStore()
        let before = try forum.sql(".sha3sum")
        let folder = forum.path + ".moult"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let journal = """
            {"format": 1, "run": "r1", "operation": "\(operation)", "state": "started", "from": "Forum", "to": "Forum 2",
            "startedAt": "2026-01-02T03:04:05Z", "schemaVersion": 1, "oldChecksum": "x", "newChecksum": null,
            "backup": null, "saved": null, "backups": "\(folder)/backups", "newExternalFiles": [], "droppedFiles": [],
            "restoredUUID": null, "steps": [], "losses": []}
            """
        try Data(journal.utf8).write(to: URL(fileURLWithPath: folder + "/journal.json"))
        let looking = try await Visit.begun(forum.settings())
        for target in ["/", "/findings", "/history"] {
            let page = try await looking.get(target)
            #expect(page.contains("A run of Moult has not ended") && page.contains("2026-01-02T03:04:05Z"), "\(page)")
            #expect(!page.contains("unfinishedRun") && !page.contains("Resume …"))
            #expect(!page.contains("Nothing was found") && !page.contains("Nothing was done"))
        }
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        #expect(try await visit.get("/").contains("Resume …"))
        let resumed = try await visit.press("Resume", on: try await visit.get("/confirm?do=resume"))
        #expect(resumed.contains(says), "\(resumed)")
        let page = try await visit.get("/")
        #expect(!page.contains("has not ended") && page.contains("\(behind) version"), "\(page)")
        #expect(try (forum.sql(".sha3sum") == before) == (operation == "repair"))
    }

    @Test func `each open question of a plan has its choices, and the command that answers each`() async throws {
        let forum = try ForumStore(count: 1)
        let models = forum.folder.path + "/Notes.xcdatamodeld"
        for (version, names) in [("A", ["title", "count"]), ("B", ["heading", "number"])] {
            let folder = "\(models)/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let model = """
                <model><entity name="Note"><attribute name="\(names[0])" optional="YES" attributeType="String"/>\
                <attribute name="\(names[1])" optional="YES" attributeType="Integer 16"/></entity></model>
                """
            try Data(model.utf8).write(to: URL(fileURLWithPath: folder + "/contents"))
        }
        let store = forum.folder.path + "/notes.sqlite"
        try StoreCreator(try ModelVersions(contentsOf: models).versions[0]).make(at: store)
        var settings = Site.Settings(store: store)
        settings.models = models
        let page = try await Visit.begun(settings).get("/plan")
        let blocks = page.components(separatedBy: "<section class=\"question\">").dropFirst()
        #expect(blocks.count == 2, "\(page)")
        for (block, choices) in zip(blocks, [["rename:title", "new"], ["rename:count", "new"]]) {
            #expect(block.matches(of: /<dt><bdi>([^<]*)</).map { String($0.output.1) } == choices)
            #expect(block.components(separatedBy: "<dd><code>").count == choices.count + 1)
        }
    }

    @Test func `without --allow-changes nothing is offered, and a form that asks for it is refused`() async throws {
        let forum = try ForumStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: forum.path))
        let files = try FileManager.default.contentsOfDirectory(atPath: forum.folder.path)
        let visit = try await Visit.begun(forum.settings())
        let plan = try await visit.get("/plan")
        #expect(!plan.contains("Migrate …") && plan.contains("--allow-changes"))
        #expect(!(try await visit.get("/backups")).contains("Create backup"))
        for action in ["backup", "migrate", "restore&name=x"] {
            #expect(try await visit.get("/confirm?do=\(action)").contains("--allow-changes"))
        }
        let token = try #require(plan.firstMatch(of: /name="form" value="([^"]*)"/)?.output.1)
        let forged = await visit.send("POST", "/do", body: "form=\(token)&do=confirmed&offer=x")
        #expect(forged.status == 403)
        #expect(try Data(contentsOf: URL(fileURLWithPath: forum.path)) == before)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: forum.folder.path)) == Set(files))
    }

    @Test func `a store that has changed since its plan was shown is not migrated`() async throws {
        let forum = try ForumStore()
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        let confirmation = try await visit.get("/confirm?do=migrate")
        _ = try forum.sql("CREATE INDEX app ON ZPOST (ZTEXT)")
        let before = try forum.sql(".sha3sum")
        let ended = try await visit.press("Migrate", on: confirmation, and: "&accept=yes")
        #expect(ended.contains("The store has changed since"), "\(ended)")
        #expect(try forum.sql(".sha3sum") == before)
    }

    @Test func `what a migration loses has to be accepted, and is what was listed`() async throws {
        let forum = try ForumStore()
        let contents = forum.models + "/Forum 3.xcdatamodel/contents"
        let model = try String(contentsOfFile: contents, encoding: .utf8)
        let email = "<attribute name=\"email\" optional=\"YES\" attributeType=\"String\"/>"
        try #require(model.contains(email))
        try model.replacing(email, with: "").write(toFile: contents, atomically: true, encoding: .utf8)
        _ = try forum.sql("UPDATE ZUSER SET ZEMAIL = NULL; UPDATE ZUSER SET ZEMAIL = 'a' WHERE Z_PK <= 3")
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        let plan = try await visit.get("/plan")
        #expect(plan.contains("User.email") && plan.contains("Migrate …"))
        let confirmation = try await visit.get("/confirm?do=migrate")
        #expect(confirmation.contains("User.email</bdi> (3)") && confirmation.contains("id=\"accept\""))
        let before = try forum.sql(".sha3sum")
        let refused = try await visit.press("Migrate", on: confirmation)
        #expect(refused.contains("nobody has accepted"))
        #expect(try forum.sql(".sha3sum") == before)
        let again = try await visit.get("/confirm?do=migrate")
        _ = try forum.sql("UPDATE ZUSER SET ZEMAIL = 'b' WHERE Z_PK = 4")
        let changed = try forum.sql(".sha3sum")
        #expect(try await visit.press("Migrate", on: again, and: "&accept=yes").contains("has changed since"))
        #expect(try forum.sql(".sha3sum") == changed)
        let right = try await visit.get("/confirm?do=migrate")
        #expect(right.contains("User.email</bdi> (4)"))
        #expect(try await visit.press("Migrate", on: right, and: "&accept=yes").contains("Done."))
        #expect(try forum.sql("SELECT count(*) FROM pragma_table_info('ZUSER') WHERE name = 'ZEMAIL'") == "0")
    }

    @Test func `an examination and the reading of every row say what they find`() async throws {
        let forum = try ForumStore()
        _ = try forum.sql("UPDATE ZPOST SET ZAUTHOR = 4711 WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        let page = try await visit.get("/findings")
        #expect(try await visit.press("Examine the store", on: page).contains("Done."))
        let rows = try await visit.press("Read every row", on: page)
        #expect(rows.contains("Keys: 2"), "\(rows)")
    }
}

import Foundation
import MoultTools
import TestSupport
import Testing

@Suite("Plans, runs and their undoing on the page")
struct UndoTests {  // tier: long
    @Test func `a migration can be undone from its result, and from the history`() async throws {
        let forum = try ForumStore()
        let before = try forum.sql(".sha3sum")
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        for isFromHistory in [false, true] {
            let result = try await visit.press("Migrate", on: visit.get("/confirm?do=migrate"), and: "&accept=yes")
            #expect(try forum.sql(".sha3sum") != before)
            let page = isFromHistory ? try await visit.get("/history") : result
            let link = try #require(page.firstMatch(of: /href="(\/confirm\?do=undo&amp;name=[^"]*)">Undo …</)?.output.1)
            let confirmation = try await visit.get(link.replacingOccurrences(of: "&amp;", with: "&"))
            #expect(confirmation.contains("<code>\(forum.path)</code> will be replaced"))
            #expect(try await visit.press("Undo", on: confirmation).contains("Done."))
            #expect(try forum.sql(".sha3sum") == before)
            #expect(try await visit.get("/").contains("2 versions behind"))
            // What was undone is a backup; undoing is not offered for itself.
            #expect(!(try await visit.get("/history")).contains("Undo …"))
        }
        #expect(try forum.sql("PRAGMA integrity_check") == "ok")
        let visitor = try await Visit.begun(forum.settings())
        #expect(!(try await visitor.get("/history")).contains("Undo …"))
        #expect(try await visitor.get("/confirm?do=undo&name=x").contains("--allow-changes"))
    }

    @Test func `a run leads to its lines of the log and to its backup`() async throws {
        let forum = try ForumStore()
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        _ = try await visit.press("Migrate", on: visit.get("/confirm?do=migrate"), and: "&accept=yes")
        let history = try await visit.get("/history")
        let log = try #require(history.firstMatch(of: /href="(\/log\?run=([^"]*))"/)?.output)
        let page = try await visit.get(String(log.1))
        let file = try String(contentsOfFile: forum.path + ".moult/log.txt", encoding: .utf8)
        let lines = file.split(separator: "\n").filter { $0.contains(log.2) }
        #expect(lines.count > 1)
        for line in lines { #expect(page.contains(line.replacingOccurrences(of: ">", with: "&gt;")), "\(line)") }
        let anchor = try #require(history.firstMatch(of: /href="\/backups#([^"]*)"/)?.output.1)
        #expect(try await visit.get("/backups").contains(" id=\"\(anchor)\""))
        #expect(await visit.send("GET", "/log?run=none").status == 422)
        let backups = forum.path + ".moult/backups"
        for name in try FileManager.default.contentsOfDirectory(atPath: backups) {
            try FileManager.default.removeItem(atPath: backups + "/" + name)
        }
        let after = try await visit.get("/history")
        #expect(after.contains("(removed)") && !after.contains("Undo …"))
    }

    @Test func `a plan shows first what matters to the store`() async throws {
        let forum = try ForumStore()
        let page = try await Visit.begun(forum.settings()).get("/plan")
        for section in page.components(separatedBy: "<h2>").dropFirst() {
            let shown = section.components(separatedBy: "<details").first ?? ""
            #expect(!shown.contains("renaming identifier") && !shown.contains("version identifiers"), "\(shown)")
        }
        #expect(page.contains("without effect on the store") && page.contains("renaming identifier"))
        #expect(page.contains("The attribute Post.body is renamed from text."))
    }
}

import Foundation
import MoultCare
import MoultCoreData
import TestSupport
import Testing

// The Swift blocks of Documentation/Mirror.md, compiled and run. A test compares the page with this file.

@Suite struct MirrorPageTests {
    @Test func `the page's program runs`() async throws {
        let store = try TestStore()
        try store.populate(3)
        let url = store.url
        let newURL = url.deletingLastPathComponent().appendingPathComponent("Next.sqlite")
        let versions = try ModelVersions([("1", Library.first()), ("2", Library.second())])

        let mirror = try await PersistentStoreMirror.start(storeAt: url, versions: versions, at: newURL)

        // At each launch, or now and then in the background:
        let known = try PersistentStoreMirror(ofStoreAt: url, versions: versions)
        let written = try await known.sync()
        print("\(written.inserted) inserted, \(written.updated) updated, \(written.deleted) deleted")

        // When the team is sure:
        if try await mirror.verify().isEqual {
            let losses = try await mirror.cutOver(acceptingLosses: true)
            for loss in losses { print("taking it back would lose: \(loss)") }
        }
        // Or not so sure after all:
        if try await mirror.status().isCutOver { try await mirror.undoCutOver() }
        try await PersistentStoreMirror.stop(storeAt: url)

        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "3")
    }

    @Test func `the page's answers are those of a migration`() async throws {
        let store = try TestStore()
        try store.populate(3)
        let url = store.url
        let newURL = url.deletingLastPathComponent().appendingPathComponent("Next.sqlite")
        let versions = try ModelVersions([("1", Library.first()), ("2", Library.renamed())])

        let answers = Data(
            """
            {"format": 1, "answers": [
                {"from": "1", "to": "2", "entity": "Book", "property": "heading", "is": "rename", "old": "title"}
            ]}
            """.utf8)
        let mirror = try await PersistentStoreMirror.start(
            storeAt: url, versions: versions, at: newURL, migrationAnswers: answers, allowsUncertainVersionHashes: true)

        #expect(try await mirror.verify().isEqual)
        let titles = "SELECT group_concat(ZHEADING) FROM (SELECT ZHEADING FROM ZBOOK ORDER BY Z_PK)"
        #expect(try SQLiteShell.run(newURL.path, titles) == "Book 0,Book 1,Book 2\n")
    }

    @Test func `every code block of the page is in this file`() throws {
        let page = try DocumentationPage("Mirror.md")
        #expect(page.blocks.count == 2 && page.missingBlocks.isEmpty, "\(page.missingBlocks)")
    }
}

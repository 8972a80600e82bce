import Foundation
import MoultCoreData
import TestSupport
import Testing

// The Swift block of Documentation/Mirror.md, compiled and run. A test compares the page with this file.

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
            for loss in losses { print("not taken back would be: \(loss)") }
        }
        // Or not so sure after all:
        if try await mirror.status().isCutOver { try await mirror.undoCutOver() }
        try await PersistentStoreMirror.stop(storeAt: url)

        #expect(try store.sql("SELECT count(*) FROM ZBOOK") == "3")
    }

    @Test func `the Swift block of the page is in this file`() throws {
        let file = URL(fileURLWithPath: #filePath)
        let page = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/Mirror.md")
        let source = Self.bare(try String(contentsOf: file, encoding: .utf8))
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
        #expect(parts.count == 1)
        for part in parts { #expect(source.contains(Self.bare(part.components(separatedBy: "```")[0]))) }
    }

    /// Without spaces and line breaks, which are the formatter's.
    private static func bare(_ text: String) -> String { String(text.filter { !$0.isWhitespace }) }
}

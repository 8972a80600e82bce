import Foundation
import Testing

/// The messages of all targets: a number of things is written by `Quantity.count`, so that `1 rows` and `1000000 rows`
/// appear nowhere.
struct CountedMessageTests {  // tier: long
    @Test func `no message puts a count beside a plural`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        let nouns =
            "rows|objects|values|pairs|links|pages|backups|times|tables|properties|edges|versions|questions|files"
        let fault = try Regex(#"\\\((count|rows|missing|gone|lost|left|[A-Za-z.]+\.count)\) (\#(nouns))\b"#)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var looked = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            looked += 1
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                #expect(line.firstMatch(of: fault) == nil, "\(file.lastPathComponent): \(line)")
            }
        }
        #expect(looked > 500)
    }
}

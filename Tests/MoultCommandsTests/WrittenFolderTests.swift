import Foundation
import MoultEngine
import TestSupport
import Testing

/// What a verb writes into a folder that is not there yet.
@Suite("Folders of files that are written")
struct WrittenFolderTests {
    private func everything(in folder: String) -> Set<String> {
        Set(FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
    }

    @Test func `a disk that fails at any call leaves a new folder complete or absent`() throws {
        let names = [
            "A.json", "B.json", "Model.xcdatamodeld/1.xcdatamodel/contents", "Model.xcdatamodeld/.xccurrentversion",
        ]
        var hasEnded = false
        for call in 0..<120 where !hasEnded {
            let folder = try ScratchFolder()
            let path = folder.path + "/deep/new"
            let system = FaultySystem { $0 == call ? ENOSPC : nil }
            _ = try? StagedPath.replace(
                names.map { ("\(path)/\($0)", Array($0.utf8)) }, makingFolders: true, .byUmask, system)
            hasEnded = !system.hasFailed
            let files = everything(in: folder.path)
            let made = files.filter { path in names.contains { path == "deep/new/" + $0 } }
            #expect(made.isEmpty || made.count == names.count, "call \(call): \(files)")
            if made.isEmpty { #expect(!files.contains("deep"), "call \(call): \(files)") }
            if hasEnded { #expect(made.count == names.count && !files.contains { $0.contains(".part") }) }
        }
        #expect(hasEnded)
    }

    @Test
    func `in a folder that is there, each file is the old one or the new, and all are written before one changes`()
        throws
    {
        var hasEnded = false
        for call in 0..<120 where !hasEnded {
            let folder = try ScratchFolder()
            try "old".write(toFile: folder.path + "/A", atomically: true, encoding: .utf8)
            let system = FaultySystem { $0 == call ? ENOSPC : nil }
            _ = try? StagedPath.replace(
                ["A", "B", "sub/C"].map { ("\(folder.path)/\($0)", [1]) }, makingFolders: true, .byUmask, system)
            hasEnded = !system.hasFailed
            let files = everything(in: folder.path)
            let old = FileManager.default.contents(atPath: folder.path + "/A")
            #expect(old == Data("old".utf8) || old == Data([1]))
            #expect(files.contains("sub") == files.contains("sub/C"), "call \(call): \(files)")
            if hasEnded { #expect(files == ["A", "B", "sub", "sub/C"]) }
        }
        #expect(hasEnded)
    }
}

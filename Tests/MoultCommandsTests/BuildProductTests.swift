import Foundation
import MoultBasics
import MoultTools
import TestSupport
import Testing

@Suite struct BuildProductTests {
    @Test func `a disk that fails at any call leaves the old product or the new one, never a part`() throws {
        var hasEnded = false
        for call in 0..<60 where !hasEnded {
            let folder = try ScratchFolder()
            let path = folder.path + "/Forum.momd"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try "old".write(toFile: path + "/Old.mom", atomically: true, encoding: .utf8)
            let product = BuildProduct(
                files: [("A.mom", [1]), ("B.mom", [2]), ("VersionInfo.plist", [3])], path: path, rights: .byUmask)
            let system = FaultySystem { $0 == call ? ENOSPC : nil }
            _ = try? product.write(system)
            hasEnded = !system.hasFailed
            let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            let parts = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(".part")
            }
            if files == ["Old.mom"] {
                #expect(parts.isEmpty, "call \(call): \(parts)")
            } else {
                #expect(files == ["A.mom", "B.mom", "VersionInfo.plist"], "call \(call)")
            }
            if hasEnded { #expect(files.count == 3 && parts.isEmpty) }
        }
        #expect(hasEnded)
    }

    @Test func `a single file replaces what had its name, in a folder that is made for it`() throws {
        let folder = try ScratchFolder()
        for content in [[UInt8(1)], [2]] {
            let path = folder.path + "/deep/below/A.mom"
            try BuildProduct(files: [("", content)], path: path, rights: .byUmask).write(POSIXSystem())
            #expect(FileManager.default.contents(atPath: path) == Data(content))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep/below") == ["A.mom"])
        }
    }
}

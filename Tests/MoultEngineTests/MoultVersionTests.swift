import Foundation
import MoultEngine
import TestSupport
import Testing

@Suite("The commit of a build")
struct MoultVersionTests {
    private static let commits = ["a", "b", "c"].map { String(repeating: $0, count: 40) }

    /// A clone whose `HEAD` moved at the seconds 1000, 2000 and 3000, with a program that was linked at a time.
    private func program(linkedAt seconds: TimeInterval, isMoult: Bool = true) throws -> (path: String, ScratchFolder) {
        let folder = try ScratchFolder()
        let files = FileManager.default
        for name in [".git/logs", ".build/debug"] + (isMoult ? ["Sources/MoultEngine"] : []) {
            try files.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        if isMoult {
            _ = files.createFile(atPath: folder.path + "/Sources/MoultEngine/MoultVersion.swift", contents: nil)
        }
        let log = Self.commits.enumerated().map { place, commit in
            "\(String(repeating: "0", count: 40)) \(commit) A Name <a@example.com> \((place + 1) * 1000) +0000\tcommit: x\n"
        }
        try log.joined().write(toFile: folder.path + "/.git/logs/HEAD", atomically: true, encoding: .utf8)
        let path = folder.path + "/.build/debug/moult"
        _ = files.createFile(atPath: path, contents: Data([1]))
        try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
        return (path, folder)
    }

    @Test(arguments: [(999.0, nil), (1000, 0), (2500, 1), (9000, 2)] as [(TimeInterval, Int?)])
    func `it is the one that was checked out when the program was linked`(seconds: TimeInterval, place: Int?) throws {
        let (path, folder) = try program(linkedAt: seconds)
        #expect(MoultVersion.commit(ofProgram: path) == place.map { String(Self.commits[$0].prefix(12)) })
        withExtendedLifetime(folder) {}
    }

    @Test func `an app's own tool in the app's repository has none`() throws {
        let (path, folder) = try program(linkedAt: 9000, isMoult: false)
        #expect(MoultVersion.commit(ofProgram: path) == nil)
        withExtendedLifetime(folder) {}
    }
}

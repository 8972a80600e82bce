import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Where a new store may be made.
struct NewPathTests {
    private static func refused(_ path: String, isStore: Bool = true) throws -> MigrationError? {
        do {
            try POSIXSystem().checkNewPath(path, isStore: isStore)
            return nil
        } catch let error as MigrationError {
            return error
        }
    }

    @Test(arguments: ["-wal", "-shm", "-journal"])
    func `the name of a database's side file is not free, nor is one whose side file is there`(suffix: String) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/store.sqlite"
        #expect(try Self.refused(store + suffix) == nil)
        try Data("a".utf8).write(to: URL(fileURLWithPath: store))
        #expect(try Self.refused(store + suffix)?.code == .usage)
        #expect(try Self.refused(store + suffix, isStore: false)?.code == .usage)
        let other = folder.path + "/other.sqlite"
        try Data("a".utf8).write(to: URL(fileURLWithPath: other + suffix))
        #expect(try Self.refused(other)?.code == .usage)
        #expect(try Self.refused(other, isStore: false) == nil)
    }

    @Test func `what Moult and Core Data keep next to a store is no place for another`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/store.sqlite"
        #expect(try Self.refused(store + ".moult") == nil)
        try Data("a".utf8).write(to: URL(fileURLWithPath: store))
        try FileManager.default.createDirectory(atPath: store + ".moult", withIntermediateDirectories: true)
        #expect(try Self.refused(store + ".moult/x")?.code == .usage)
        #expect(try Self.refused(folder.path + "/.store_SUPPORT")?.code == .usage)
        #expect(try Self.refused(folder.path + "/.store_SUPPORT", isStore: false) == nil)
        try FileManager.default.removeItem(atPath: store + ".moult")
        #expect(try Self.refused(store + ".moult")?.code == .usage)
    }

    @Test func `two stores do not share a folder of external data`() throws {
        let folder = try ScratchFolder()
        let system = POSIXSystem()
        let store = folder.path + "/store.sqlite"
        let error = #expect(throws: MigrationError.self) {
            try system.checkNewPath(folder.path + "/store.db", isStore: true, apartFrom: store)
        }
        #expect(error?.code == .usage && error?.message.contains(".store_SUPPORT") == true)
        try system.checkNewPath(folder.path + "/other.db", isStore: true, apartFrom: store)
        try system.makeFolder(folder.path + "/to")
        try system.checkNewPath(folder.path + "/to/store.sqlite", isStore: true, apartFrom: store)
    }

    @Test func `a link that leads to nothing is something`() throws {
        let folder = try ScratchFolder()
        let link = folder.path + "/link.sqlite"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/nothing")
        #expect(try Self.refused(link)?.code == .usage)
        #expect(try Self.refused(folder.path + "/none/store.sqlite")?.code == .fileNotFound)
    }

    @Test func `making a store that fails leaves what was next to its path`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/store.sqlite"
        try Data("somebody's".utf8).write(to: URL(fileURLWithPath: store + "-wal"))
        let model = try ManagedObjectModel(entities: [])
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: model))
        #expect(throws: MigrationError.self) { try maker.make(at: store) }
        #expect(try String(contentsOfFile: store + "-wal", encoding: .utf8) == "somebody's")
        #expect(!FileManager.default.fileExists(atPath: store))
    }
}

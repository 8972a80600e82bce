import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Files of external data that are gone, or that nothing can read: the report names the objects that refer to them.
struct SalvagedDataTests {
    private let folder: ScratchFolder
    private let store: String
    private let version: ModelVersion
    private let data: String
    /// By key.
    private let files: [Int64: String]

    /// Six photos, each in a file of its own, and one without.
    init() throws {
        folder = try ScratchFolder()
        store = folder.path + "/Photos.sqlite"
        data = folder.path + "/.Photos_SUPPORT/_EXTERNAL_DATA/"
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo",
                attributes: [.init(name: "image", type: .binary, allowsExternalBinaryDataStorage: true)]),
            EntityDescription(name: "Portrait", superentityName: "Photo"),
        ])
        version = ModelVersion(names: ["1"], model: model)
        try StoreCreator(version).make(at: store)
        let coordinator = ObjectCoordinator(model: model)
        let objects = try ObjectStore(store, model: model)
        try coordinator.add(objects)
        let context = ObjectContext(coordinator: coordinator)
        for number in 0..<7 {
            let photo = try context.insert(number == 3 ? "Portrait" : "Photo")
            try photo.setAttribute(
                "image", .binary([UInt8](repeating: UInt8(number), count: number == 0 ? 9 : 200_000)))
        }
        try context.save()
        objects.close()
        let lines = try SQLiteShell.run(
            store, "SELECT Z_PK, CAST(substr(ZIMAGE, 2, 36) AS TEXT) FROM ZPHOTO WHERE hex(substr(ZIMAGE, 1, 1)) = '02'"
        )
        files = Dictionary(
            uniqueKeysWithValues: lines.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "|")
                return Int64(parts[0]).map { ($0, String(parts[1])) }
            })
        try #require(files.count == 6)
    }

    /// A disk on which one file cannot be read, and is copied in part.
    private struct Unreadable: ForwardingSystem {
        let name: String

        func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            guard path.hasSuffix(name) else { return try real.copy(path, to: copy, rights) }
            try real.write([1, 2, 3], to: copy, rights)
            throw MigrationError.system("read", path, error: EIO)
        }
    }

    @Test(arguments: ["saved.sqlite", "Photos.store"])
    func `objects whose file is gone, unreadable or no plain file are named`(name: String) throws {
        let keys = files.keys.sorted()
        let paths = keys.map { data + files[$0, default: ""] }
        try FileManager.default.removeItem(atPath: paths[0])
        try FileManager.default.removeItem(atPath: paths[1])
        #expect(mkfifo(paths[1], 0o600) == 0)
        try FileManager.default.moveItem(atPath: paths[3], toPath: folder.path + "/elsewhere")
        try FileManager.default.createSymbolicLink(atPath: paths[3], withDestinationPath: folder.path + "/elsewhere")
        let system = Unreadable(name: files[keys[4], default: ""])
        let path = folder.path + "/" + name
        let report = try StoreSalvage(version, system: system).run(store, into: path)
        #expect(!report.isWhole && !report.isEverythingRead)
        let missing = Set(report.missingData.flatMap { $0.keys.flatMap { Array($0) } })
        // Beside a store with the same folder nothing is copied, and this disk fails only then.
        let unread = name == "saved.sqlite" ? [0, 1, 3, 4] : [0, 1, 3]
        #expect(missing == Set(unread.map { keys[$0] }), "\(report.missingData)")
        #expect(report.missingData.allSatisfy { $0.entity == "Photo" && $0.property == "image" })
        #expect(report.rows == 7)
        guard name == "saved.sqlite" else { return }
        #expect(report.externalFiles == 2)
        let copied = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/.saved_SUPPORT/_EXTERNAL_DATA")
        #expect(Set(copied) == Set([2, 5].map { files[keys[$0], default: ""] }))
    }

    @Test func `a store whose files are there comes out whole`() throws {
        let report = try StoreSalvage(version).run(store, into: folder.path + "/saved.sqlite")
        #expect(report.isWhole && report.missingData.isEmpty && report.externalFiles == 6)
    }

    @Test func `without the folder every object with a file is named`() throws {
        try FileManager.default.removeItem(atPath: folder.path + "/.Photos_SUPPORT")
        let report = try StoreSalvage(version).run(store, into: folder.path + "/saved.sqlite")
        #expect(report.missingData.reduce(0) { $0 + $1.objects } == 6 && !report.isWhole)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.saved_SUPPORT"))
    }
}

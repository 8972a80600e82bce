import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// Values in files of their own: they go over by their bytes, wherever either version keeps them.
struct MirrorFilesTests {  // tier: long
    private let folder: ScratchFolder
    private let store: String
    private let second: String
    private let large = [UInt8](repeating: 5, count: ExternalStorage.threshold)

    init() throws {
        folder = try ScratchFolder()
        (store, second) = (folder.path + "/First.sqlite", folder.path + "/Second.sqlite")
    }

    /// The path of a store's files.
    private func data(_ name: String) -> String { folder.path + "/.\(name)_SUPPORT/_EXTERNAL_DATA" }

    private func files(_ name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: data(name))) ?? []).sorted()
    }

    /// Changes objects of a store, and saves.
    private func save(_ path: String, _ model: ManagedObjectModel, _ change: (ObjectContext) throws -> Void) throws {
        let coordinator = ObjectCoordinator(model: model)
        let opened = try ObjectStore(path, model: model)
        defer { opened.close() }
        try coordinator.add(opened)
        let context = ObjectContext(coordinator: coordinator)
        try change(context)
        try context.save()
    }

    private func start(_ versions: ModelVersions, _ options: RunOptions = RunOptions()) throws -> MirroredStore {
        try MirroredStore.start(
            .init(store, to: "2", .migrateInto(second), options), .init(versions, losses: .asTheVersionsSay()))
    }

    @Test(arguments: [true, false])
    func `a value stays in its file where the other version has it in the row`(history: Bool) throws {
        let versions = try ModelVersions(
            "Place = size Integer32, note String, photo Binary external, icon Binary",
            "Place = size Integer32, note String, photo Binary, icon Binary external")
        let models = versions.versions.map(\.model)
        try StoreCreator(versions.versions[0], history: history).make(at: store)
        try save(store, models[0]) { context in
            for size in 1...5 {
                let place = try context.insert("Place")
                try place.setAttribute("size", .integer(Int64(size)))
                // The bytes of the first look like the name of a file.
                try place.setAttribute("photo", .binary(size == 1 ? [2, 65, 66, 0] : large))
            }
        }
        #expect(files("First").count == 4)
        let cells = "SELECT ZSIZE, hex(substr(ZPHOTO, 1, 38)) FROM ZPLACE WHERE ZSIZE < 4 ORDER BY 1"
        let before = try SQLiteShell.run(store, cells)
        var mirror = try start(versions)
        #expect(try mirror.cutOver() == [])
        let untouched = try mirror.verify()
        #expect(untouched.isEqual, "\(untouched.lines)")
        #expect(try SQLiteShell.run(store, cells) == before)

        try save(second, models[1]) { context in
            for place in try context.fetch(ObjectFetch(entityName: "Place")) {
                switch try place.attribute("size") {
                case .integer(1)?: try place.setAttribute("icon", .binary(large))
                case .integer(2)?: try place.setAttribute("note", .string("new"))
                case .integer(4)?: try place.setAttribute("photo", .binary(large.map { $0 + 2 }))
                case .integer(5)?: try context.delete(place)
                default: break
                }
            }
            let place = try context.insert("Place")
            try place.setAttribute("size", .integer(6))
            try place.setAttribute("photo", .binary([9]))
        }
        #expect(files("Second").count == 1)
        _ = try mirror.synchronise()
        let written = try mirror.verify()
        #expect(written.isEqual, "\(written.lines)")
        let rows = """
            SELECT ZSIZE, ZNOTE, length(ZPHOTO), hex(substr(ZPHOTO, 1, 1)), length(ZICON) FROM ZPLACE ORDER BY 1
            """
        let expected = "1||5|01|100000\n2|new|38|02|\n3||38|02|\n4||100001|01|\n6||2|01|\n"
        #expect(try SQLiteShell.run(store, rows) == expected)
        #expect(try SQLiteShell.run(store, cells) == before)
        // 100,000 bytes 7.
        let changed = """
            SELECT ZSIZE FROM ZPLACE WHERE ZPHOTO = CAST(x'01' || replace(hex(zeroblob(100000)), '00', char(7)) AS BLOB)
            """
        #expect(try SQLiteShell.run(store, changed) == "4\n")
        #expect(files("First").count == 2)

        try mirror.undoCutOver()
        #expect(try SQLiteShell.run(store, rows) == expected)
        #expect(try SQLiteShell.run(store, cells) == before)
        // The second store is as a migration of the first makes it.
        let made = """
            SELECT ZSIZE, ZNOTE, length(ZPHOTO), length(ZICON), hex(substr(ZICON, 1, 1)) FROM ZPLACE ORDER BY 1
            """
        #expect(
            try SQLiteShell.run(second, made)
                == "1||4|100001|01\n2|new|100000||\n3||100000||\n4||100000||\n6||1||\n")
        #expect(files("First").count == 2 && files("Second") == [])
        let back = try mirror.verify()
        #expect(back.isEqual, "\(back.lines)")
    }

    @Test func `a file that the second store has damaged or lost is found, and a lost one is brought again`() throws {
        let versions = try ModelVersions("Photo = image Binary external, note String", "Photo = image Binary external")
        let model = versions.versions[0].model
        try StoreCreator(versions.versions[0]).make(at: store)
        try save(store, model) { context in
            try context.insert("Photo").setAttribute("image", .binary(large))
        }
        var mirror = try start(versions)
        let name = try #require(files("Second").first)
        let file = "\(data("Second"))/\(name)"
        var damaged = large
        damaged[7] = 0
        for bytes: [UInt8]? in [damaged, nil] {
            try FileManager.default.removeItem(atPath: file)
            if let bytes { try Data(bytes).write(to: URL(fileURLWithPath: file)) }
            let verified = try mirror.verify()
            #expect(verified.differences.map(\.table) == ["ZPHOTO"], "\(verified.lines)")
        }
        _ = try mirror.synchronise(all: true)
        #expect(FileManager.default.contents(atPath: file) == Data(large))
        #expect(try mirror.verify().isEqual)
        // A file that the first store itself lacks is no difference.
        try FileManager.default.removeItem(atPath: "\(data("First"))/\(name)")
        let verified = try mirror.verify()
        #expect(verified.isEqual, "\(verified.lines)")
    }

    @Test func `the file of an element of a composite attribute is beside the second store too`() throws {
        let element = AttributeDescription(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true)
        let place = AttributeDescription(name: "place", type: .composite, elements: [element])
        let versions = try ModelVersions(of: [
            [EntityDescription(name: "Stay", attributes: [.init(name: "note", type: .string), place])],
            [EntityDescription(name: "Stay", attributes: [place])],
        ])
        try StoreCreator(versions.versions[0], experimental: true).make(at: store)
        var options = RunOptions()
        options.isExperimental = true
        var mirror = try start(versions, options)
        let name = UUID().uuidString
        try FileManager.default.createDirectory(atPath: data("First"), withIntermediateDirectories: true)
        try Data(large).write(to: URL(fileURLWithPath: "\(data("First"))/\(name)"))
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZSTAY (Z_PK, Z_ENT, Z_OPT, ZPHOTO) SELECT 1, Z_ENT, 1, x'02\(Array(name.utf8).hexadecimal)00'
                FROM Z_PRIMARYKEY WHERE Z_NAME = 'Stay';
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Stay'
            """)
        _ = try mirror.synchronise()
        #expect(FileManager.default.contents(atPath: "\(data("Second"))/\(name)") == Data(large))
        // A plan says that it is missing, as it does of a plain attribute's.
        try FileManager.default.removeItem(atPath: "\(data("First"))/\(name)")
        var asked = PreparedMigration.Options(losses: .asTheVersionsSay())
        asked.isExperimental = true
        let prepared = try PreparedMigration(store, versions: versions, to: "2", options: asked)
        #expect(prepared.missingFiles.map(\.code) == ["external-file-missing"])
    }
}

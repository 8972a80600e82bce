import Foundation
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultStore
import TestSupport

/// A store of the first version of the forum's model, with objects of every entity, in a folder of its own next to the
/// model and its rules.
struct ForumStore {
    let folder: ScratchFolder
    var path: String { folder.path + "/forum.sqlite" }
    var models: String { folder.path + "/Forum.xcdatamodeld" }
    var rules: String { folder.path + "/Forum.rules.json" }

    init() throws {
        folder = try ScratchFolder()
        let examples = packageRoot.appendingPathComponent("Examples").path
        for name in ["Forum.xcdatamodeld", "Forum.rules.json"] {
            try FileManager.default.copyItem(atPath: "\(examples)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        let first = try ModelVersions(contentsOf: models).versions[0]
        let maker = try StoreCreator(first)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        _ = try SampleData(seed: 1, count: 6, isHostile: false).fill(writer)
        try writer.finish()
    }

    /// What the sqlite3 shell prints.
    func sql(_ query: String) throws -> String {
        try SQLiteShell.run(path, query).trimmingCharacters(in: .newlines)
    }

    /// The bytes of the store's file.
    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

import MoultData
import TestSupport

/// The store file of one sample, in a folder that goes with it. The samples themselves are source as SwiftData's users
/// write it, but for the import.
struct SampleStore {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    var url: URL { URL(fileURLWithPath: folder.path + "/default.store") }

    func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(url: url)])
    }

    /// What the sqlite3 shell answers: a line a row, `|` between columns.
    func sql(_ text: String) throws -> [String] {
        try SQLiteShell.run(url.path, text).split(separator: "\n").map(String.init)
    }
}

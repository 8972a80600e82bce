import Foundation
import MoultCoreData

/// Lists for the bookkeeper, which a migration writes outside of the store: what no store can take back.
struct Reports: Sendable {
    let folder: URL

    /// A step that changes objects and writes the lines that its code gives. When it or a later step fails, its list
    /// goes again.
    func step(
        _ name: String, _ sentence: String, _ code: @escaping @Sendable (ManagedObjectContext) throws -> [String]
    ) -> MigrationStep {
        let list = folder.appendingPathComponent("\(name).txt")
        return MigrationStep(
            name: name, description: sentence,
            execute: { context in
                let lines = try context.whole(code)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data(lines.sorted().map { $0 + "\n" }.joined().utf8).write(to: list, options: .atomic)
            },
            rollback: { _ in
                guard FileManager.default.fileExists(atPath: list.path) else { return }
                try FileManager.default.removeItem(at: list)
            })
    }
}

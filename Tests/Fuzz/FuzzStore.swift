import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport

/// Whole stores: all that looks at one, as `status`, `inspect`, `dump`, `validate` and `plan` do.
struct FuzzStore: Sendable {
    static let shared = Result { try FuzzStore() }

    private let folder: ScratchFolder
    private let versions: ModelVersions
    private var path: String { folder.path + "/store.sqlite" }

    private init() throws {
        folder = try ScratchFolder()
        versions = try FuzzSeeds.forum()
    }

    func read(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        expectUsefulErrors { try look() }
        expectUsefulErrors { _ = try PreparedMigration(path, versions: versions) }
    }

    private func look() throws {
        let probe = try ReadOnlyStore(path, folder: folder.path)
        defer { probe.close() }
        let snapshot = try StoreSnapshot(probe.connection)
        _ = try StoreRecognition(of: snapshot, in: versions)
        let recognition = try StoreRecognition(of: snapshot)
        guard let model = recognition.model ?? versions.versions.last?.model else { return }
        expectUsefulErrors { try dump(probe, snapshot, model) }
        expectUsefulErrors { _ = try StoreAudit(path, model: model, full: true) }
    }

    private func dump(_ probe: ReadOnlyStore, _ snapshot: StoreSnapshot, _ model: ManagedObjectModel) throws {
        let layout = try StoreLayout(actual: snapshot, model: model)
        let reader = StoreReader(connection: probe.connection, layout: layout, store: path)
        for entity in model.entities {
            expectUsefulErrors {
                try reader.forEachObject(of: entity) { row in
                    for case .attribute(let value?) in row.values { _ = value.document.compact }
                }
            }
        }
    }
}

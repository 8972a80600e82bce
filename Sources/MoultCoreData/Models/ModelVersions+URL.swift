import Foundation
import MoultModel
import MoultModelFiles

extension ModelVersions {
    /// Reads every version that lies at `url`: a `.momd`, an `.xcdatamodeld`, one model file, or a folder of them.
    ///
    /// - Throws: `modelNotFound` if there is no model, `modelInvalid` and `fileNotReadable` if it cannot be read.
    public init(contentsOf url: URL) throws {
        do {
            try self.init(contentsOf: url.path)
        } catch let error as MigrationError where error.code == .fileNotFound {
            throw MigrationError.modelNotFound(at: url)
        }
    }

    /// The versions of a model that is built in code, oldest first; the last is the current one.
    public init(_ models: [(name: String, model: ManagedObjectModel)]) {
        let versions = models.map { ModelVersion(names: [$0.name], model: $0.model) }
        self.init(joining: versions, currentName: models.last?.name)
    }

    /// The version that the bundle calls current, otherwise the last.
    public var current: ModelVersion? {
        currentName.flatMap { self[$0] } ?? versions.last
    }

    /// The version that goes by `name`.
    public subscript(name: String) -> ModelVersion? {
        position(named: name).map { versions[$0] }
    }
}

extension MigrationError {
    static func modelNotFound(at url: URL) -> MigrationError {
        MigrationError(
            .modelNotFound, "There is no model at this path.", place: url.path,
            remedy: "Give the path of an .xcdatamodeld, a .momd, an .xcdatamodel, a .mom or a folder of them.")
    }
}

import Foundation
import MoultBasics
import MoultModel

/// A version of a model and the checksum that it was released with: `NSManagedObjectModelReference`.
///
/// The checksum is frozen in the program's source: a model that was changed by accident is found before any store is.
public struct ManagedObjectModelReference: Sendable {
    /// As `ManagedObjectModel.versionChecksum` and Xcode's build log give it.
    public let versionChecksum: String
    private let resolve: @Sendable () throws -> ManagedObjectModel

    /// A model that the program has already, and the checksum that it must have.
    public init(model: ManagedObjectModel, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { model }
    }

    /// The model at a URL, such as one version inside a `.momd`.
    public init(fileURL: URL, versionChecksum: String) {
        self.versionChecksum = versionChecksum
        resolve = { try ManagedObjectModel(contentsOf: fileURL) }
    }

    /// The version of that name among the models of a bundle; nil stands for the main bundle.
    public init(name: String, in bundle: Bundle?, versionChecksum: String) {
        self.init(in: bundle, versionChecksum: versionChecksum, what: name) { $0.names.contains(name) }
    }

    /// The version with these hashes among the models of a bundle; nil stands for the main bundle.
    public init(entityVersionHashes: [String: Data], in bundle: Bundle?, versionChecksum: String) {
        self.init(in: bundle, versionChecksum: versionChecksum, what: versionChecksum) {
            $0.model.entityVersionHashesByName == entityVersionHashes
        }
    }

    private init(
        in bundle: Bundle?, versionChecksum: String, what: String,
        where isMeant: @escaping @Sendable (ModelVersion) -> Bool
    ) {
        self.versionChecksum = versionChecksum
        let folders = [(bundle ?? .main).resourceURL, (bundle ?? .main).bundleURL].compactMap(\.self)
        resolve = {
            for url in ModelLocation.models(in: folders) {
                if let version = try ModelVersions(contentsOf: url).versions.first(where: isMeant) {
                    return version.model
                }
            }
            throw MigrationError(
                .modelNotFound, "No model of the bundle has the version \(what).", place: what,
                remedy: "Keep every released version among the bundle's resources.")
        }
    }

    /// The model.
    ///
    /// - Throws: `modelNotFound`, `modelInvalid` if it cannot be read.
    public var resolvedModel: ManagedObjectModel { get throws { try resolve() } }
}

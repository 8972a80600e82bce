import Foundation
import MoultCoreData

/// The versions of the reader's model: `ForumReader` to `ForumReader 4`.
public enum ForumModel {
    public static let url = Bundle.module.url(forResource: "ForumReader", withExtension: "xcdatamodeld")

    /// - Throws: `modelNotFound` where the model is not beside the program.
    public static func versions() throws -> ModelVersions {
        guard let url else {
            throw MigrationError(
                .modelNotFound, "The program has lost its model.",
                remedy: "Keep the folder of resources beside the program, or name the model: --model PATH.")
        }
        return try ModelVersions(contentsOf: url)
    }

    /// - Throws: `modelNotFound` for a version that there is not.
    static func version(_ name: String) throws -> ModelVersion {
        guard let version = try versions()[name] else {
            throw MigrationError(
                .modelNotFound, "The model has no version \(name).", remedy: "Name one of its versions.")
        }
        return version
    }
}

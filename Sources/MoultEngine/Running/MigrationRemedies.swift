import MoultModel

/// The remedies that tell the users of a front end how to allow what a migration is refused for.
package struct MigrationRemedies: Sendable {
    /// Says how losses at these places are accepted, in whole sentences.
    package var acceptingLosses: @Sendable (_ places: [String]) -> String
    /// The instruction for allowing the migration of a store that is mirrored to CloudKit, as the beginning of a
    /// request.
    package var allowingCloudKit: String
    /// The instruction for naming the configuration that the app opens the store with, as the beginning of a request.
    package var choosingConfiguration: String
    /// The remedies where no mapping follows from the models alone, by the error's code; the error's own remedy
    /// otherwise.
    package var mapping: [MigrationError.Code: String]

    package init(
        allowingCloudKit: String, choosingConfiguration: String = "set configuration of the run's options",
        mapping: [MigrationError.Code: String] = [:],
        acceptingLosses: @escaping @Sendable (_ places: [String]) -> String
    ) {
        self.allowingCloudKit = allowingCloudKit
        self.choosingConfiguration = choosingConfiguration
        self.mapping = mapping
        self.acceptingLosses = acceptingLosses
    }

    /// For programs that call the engine's public face.
    package static let library = MigrationRemedies(allowingCloudKit: "set allowsCloudKit of the run's options") {
        "To accept the loss, set acceptedLosses of the run's options or of the registry: \($0.swiftLiteral)."
    }
}

extension [String] {
    /// As an array in Swift, and in JSON.
    package var swiftLiteral: String { "[\(map { "\"\($0)\"" }.joined(separator: ", "))]" }
}

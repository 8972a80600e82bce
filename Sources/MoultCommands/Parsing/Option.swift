/// An option of the command line: `--name`, with a value or without.
package struct Option: Sendable, Hashable {
    /// The completions that a shell may offer in the value's place.
    package enum Completion: Sendable, Hashable {
        case nothing, files, folders
        case words([String])
    }

    package let name: String
    /// The placeholder for the value in help, or nil for a flag.
    package let value: String?
    package let help: String
    package let completion: Completion

    package static func flag(_ name: String, _ help: String) -> Option {
        Option(name: name, value: nil, help: help, completion: .nothing)
    }

    package static func value(
        _ name: String, _ value: String, _ help: String, completes completion: Completion = .nothing
    ) -> Option {
        Option(name: name, value: value, help: help, completion: completion)
    }

    /// The option as it is typed: `--model PATH`.
    package var usage: String { "--\(name)" + (value.map { " \($0)" } ?? "") }
}

/// The options that more than one verb has.
extension Option {
    package static let json = flag("json", "Print one JSON document, for scripts.")
    package static let help = flag("help", "Show this help.")
    package static let model = value(
        "model", "PATH",
        "The model: an .xcdatamodeld or .momd, a folder of versions, a single version (.xcdatamodel, .mom, .omo or "
            + "JSON), or a store, whose own model is then used.",
        completes: .files)
    package static let order = value(
        "order", "NAMES", "The order of the versions, oldest first, separated by commas.")
    package static let answers = value(
        "answers", "FILE",
        "The file in which moult answer records answers about the model, such as renames; by default the one next to "
            + "the model.",
        completes: .files)
    package static let framework = value(
        "framework", "N",
        "The framework level (NSPersistenceFrameworkVersion) of a new store; by default the newest known.")
    package static let experimental = flag(
        "experimental", "Allow what is not verified against Apple's own files, such as an enum with associated values.")
}

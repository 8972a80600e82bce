/// An argument that is known by its place.
package struct Operand: Sendable, Hashable {
    package let name: String
    package let help: String
    package let isOptional: Bool
    /// Whether there may be several of it; then it is the last.
    package let isRepeated: Bool
    package let completion: Option.Completion

    package init(
        _ name: String, _ help: String, isOptional: Bool = false, isRepeated: Bool = false,
        completes completion: Option.Completion = .files
    ) {
        self.name = name
        self.help = help
        self.isOptional = isOptional
        self.isRepeated = isRepeated
        self.completion = completion
    }

    package static let store = Operand("STORE", "The path of a Core Data or SwiftData store.")
    /// Left out only in the tool of an app that has its model itself: ``Invocation/operandVersions(_:)`` asks.
    package static let model = Operand(
        "MODEL",
        "The model: an .xcdatamodeld or .momd, a folder of versions, a single version (.xcdatamodel, .mom, .omo or "
            + "JSON), or a store, whose own model is then used. In an app's own tool, the default is the app's model.",
        isOptional: true)

    package var usage: String {
        let name = isRepeated ? "\(name)…" : name
        return isOptional ? "[\(name)]" : name
    }
}

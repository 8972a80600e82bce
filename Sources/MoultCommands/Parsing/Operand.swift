/// An argument that is known by its place.
package struct Operand: Sendable, Hashable {
    package let name: String
    package let help: String
    package let isOptional: Bool
    package let completion: Option.Completion

    package init(
        _ name: String, _ help: String, isOptional: Bool = false, completes completion: Option.Completion = .files
    ) {
        self.name = name
        self.help = help
        self.isOptional = isOptional
        self.completion = completion
    }

    package static let store = Operand("STORE", "The path of a Core Data or SwiftData store.")
    package static let model = Operand(
        "MODEL", "A .xcdatamodeld, .momd, a folder of versions, or one model.")

    package var usage: String { isOptional ? "[\(name)]" : name }
}

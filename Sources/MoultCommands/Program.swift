import MoultSystem

/// What the program is called that a person has typed: `moult`, or an app's own tool.
enum Program {
    static let name = CommandLine.arguments.first.map(Path.name(of:)) ?? "moult"

    /// An example of help, as it is typed here.
    static func named(_ example: String) -> String {
        example.hasPrefix("moult ") ? name + example.dropFirst("moult".count) : example
    }
}

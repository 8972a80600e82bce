import MoultSystem

/// The name of the program as a person has typed it: `moult`, or an app's own tool.
enum Program {
    static let name: String = {
        let name = CommandLine.arguments.first.map(Path.name(of:)) ?? "moult"
        // SwiftPM builds a plugin's tool under another name than a person types.
        return name == "moult-tool" ? "moult" : name
    }()

    /// A text of help or of an error, with every command as it is typed here.
    static func named(_ text: String, as name: String = name) -> String {
        guard name != "moult", text.contains("moult ") else { return text }
        return Verb.all.reduce(text) { text, verb in
            // A name that ends with moult may stand there already.
            text.replacing("\(name) \(verb.name)", with: "moult \(verb.name)")
                .replacing("moult \(verb.name)", with: "\(name) \(verb.name)")
        }
    }
}

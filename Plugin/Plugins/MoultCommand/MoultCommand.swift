import Foundation
import PackagePlugin

/// `swift package moult lint`: the verbs that write nothing, in the folder of the package.
@main struct MoultCommand: CommandPlugin {
    /// What these print, they print. Others may write to the package, which asks for a permission.
    private static let reading: Set<String> = [
        "changelog", "checklist", "ddl", "diff", "hash", "inspect", "lint", "status", "validate", "--help", "--version",
        "help",
    ]

    func performCommand(context: PluginContext, arguments: [String]) throws {
        let verb = arguments.first ?? "--help"
        let corrects = arguments.contains("--fix") && !arguments.contains("--dry-run")
        guard Self.reading.contains(verb) && !corrects || arguments.starts(with: ["lock", "--check"]) else {
            Diagnostics.error(
                "moult \(verb) may write to the package. Run: swift package --allow-writing-to-package-directory "
                    + "moult-write \(arguments.joined(separator: " "))")
            return
        }
        let process = Process()
        process.executableURL = try context.tool(named: "moult").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return }
        Diagnostics.error("moult \(verb) ended with \(process.terminationStatus).")
    }
}

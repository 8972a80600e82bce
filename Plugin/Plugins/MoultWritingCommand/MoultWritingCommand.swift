import Foundation
import PackagePlugin

/// `swift package moult-write lock MODEL`: every verb, in the folder of the package, with the permission to write there.
@main struct MoultWritingCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let process = Process()
        process.executableURL = try context.tool(named: "moult").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return }
        Diagnostics.error("moult \(arguments.first ?? "") ended with \(process.terminationStatus).")
    }
}

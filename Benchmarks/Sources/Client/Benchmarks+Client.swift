import Foundation
import MoultBasics

/// What a package pays that depends on `DropIn`: the time of its first build, and the size of its program.
extension Benchmarks {
    private static let manifest = """
        // swift-tools-version: 6.0
        import PackageDescription

        let package = Package(
            name: "Client", dependencies: [.package(path: "ROOT/DropIn")],
            targets: [
                .executableTarget(name: "Client", dependencies: [.product(name: "SwiftData", package: "DropIn")])
            ])
        """

    private static let program = """
        import Foundation
        import SwiftData

        @Model final class Note {
            var text: String
            init(text: String) { self.text = text }
        }

        let url = URL(fileURLWithPath: CommandLine.arguments[1])
        let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        context.insert(Note(text: "first"))
        try context.save()
        print(try context.fetchCount(FetchDescriptor<Note>()))
        """

    /// Builds everything anew, once for each figure: some twelve minutes on two cores.
    func client() throws -> [Figure] {
        let package = folder + "/Client"
        try FileManager.default.createDirectory(atPath: package + "/Sources/Client", withIntermediateDirectories: true)
        let root = FileManager.default.currentDirectoryPath
        try Self.manifest.replacingOccurrences(of: "ROOT", with: root)
            .write(toFile: package + "/Package.swift", atomically: true, encoding: .utf8)
        try Self.program.write(toFile: package + "/Sources/Client/main.swift", atomically: true, encoding: .utf8)
        func build(_ configuration: String) throws -> Command.Result {
            let words = ["build", "--package-path", package, "--configuration", configuration]
            let result = try Command("/usr/bin/env", ["swift"] + words).run()
            let store = "\(package)/\(configuration).sqlite"
            let printed = try Command("\(package)/.build/\(configuration)/Client", [store]).run().output
            guard printed == "1\n" else {
                throw MigrationError(
                    .internal, "The client printed \(printed) after \(result.output.suffix(2000))",
                    remedy: "Build it by hand.")
            }
            return result
        }
        let debug = try build("debug")
        _ = try build("release")
        let stripped = package + "/stripped"
        try Command("/usr/bin/env", ["strip", "-o", stripped, package + "/.build/release/Client"]).run()
        let size = Double(try POSIXSystem().status(of: stripped)?.size ?? 0)
        return [
            Figure(name: "clean debug build, processor time", ours: [debug.processorSeconds]),
            Figure(name: "optimised and stripped executable", ours: [size / 1_000_000], unit: .megabytes),
        ]
    }
}

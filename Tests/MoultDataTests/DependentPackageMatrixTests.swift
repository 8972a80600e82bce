import Foundation
import TestSupport
import Testing

/// A package of somebody else that names Moult by its path, built from nothing as its users build it.
@Suite(.enabled(if: Tier.matrix.isAsked)) struct DependentPackageMatrixTests {
    @Test func `builds with the macros and runs`() throws {
        let folder = try ScratchFolder()
        try write(
            """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(
                name: "App", dependencies: [.package(name: "Moult", path: "\(packageRoot.path)")],
                targets: [
                    .executableTarget(name: "App", dependencies: [.product(name: "MoultData", package: "Moult")])
                ], swiftLanguageModes: [.v5])
            """, to: folder.path + "/Package.swift")
        try write(
            """
            import MoultData

            enum AppV1: VersionedSchema {
                static var versionIdentifier = Schema.Version(1, 0, 0)
                static var models: [any PersistentModel.Type] { [Note.self] }
                @Model final class Note {
                    @Attribute(.unique) var title: String
                    var replies: [Note] = []
                    init(title: String) { self.title = title }
                }
            }
            let container = try ModelContainer(
                for: Schema(versionedSchema: AppV1.self), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
            let context = ModelContext(container)
            context.insert(AppV1.Note(title: "first"))
            try context.save()
            print(try context.fetch(FetchDescriptor<AppV1.Note>()).map(\\.title))
            """, to: folder.path + "/Sources/App/main.swift")
        #expect(try run(["swift", "run", "App"], in: folder.path).hasSuffix("[\"first\"]\n"))
    }

    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// What the command printed, on both streams.
    private func run(_ command: [String], in folder: String) throws -> String {
        try ChildProcess.run("env", ["-u", "MOULT_SWIFT_SYNTAX"] + command, folder: folder).output
    }
}

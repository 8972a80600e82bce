import Foundation
import TestSupport
import Testing

/// A package of somebody else that names Moult by its path, built from nothing as its users ship it: with optimisation,
/// and with the toolchain's dynamic libraries, which hide more symbols than its static ones. It takes ten minutes, so a
/// bounded share of the tier leaves it out.
@Suite(.enabled(if: Tier.matrix.isAsked && !Tier.matrix.isBounded)) struct DependentPackageMatrixTests {
    @Test func `an optimised package builds with the macros and runs`() throws {
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
            let notes = try ResultsObserver<AppV1.Note, String>(sectionBy: \\.title, modelContext: context)
            print(notes.results.map(\\.title))
            """, to: folder.path + "/Sources/App/main.swift")
        #expect(try run(["swift", "run", "-c", "release", "App"], in: folder.path).hasSuffix("[\"first\"]\n"))
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

import Foundation
import MoultModel
import MoultTools
import TestSupport
import Testing

/// The sources in Generated are compiled with these tests, so they have to be what is generated now.
///
/// `MOULT_WRITE_GENERATED=1 swift test --filter GeneratedSourceTests` writes them.
@Suite("Generated sources") struct GeneratedSourceTests {
    private static let folder = packageRoot.appendingPathComponent("Tests/MoultToolsTests/Generation/Generated")

    private func check(_ files: [GeneratedFile], in name: String) throws {
        let folder = Self.folder.appendingPathComponent(name)
        if ProcessInfo.processInfo.environment["MOULT_WRITE_GENERATED"] != nil {
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for file in files {
                try Data(file.text.utf8).write(to: folder.appendingPathComponent(file.name))
            }
        }
        let found = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(found == files.map(\.name).sorted())
        for file in files {
            let text = try String(contentsOf: folder.appendingPathComponent(file.name), encoding: .utf8)
            #expect(text == file.text, "\(name)/\(file.name)")
        }
    }

    @Test func `SwiftData's models and plan`() throws {
        try check(SwiftDataModels(Fleet.versions(), named: "Fleet").files, in: "Fleet")
    }

    @Test func `MoultCoreData's classes`() throws {
        try check(CoreDataClasses(Shelf.model(classes: "Own"), .moult, .whole).files, in: "Own")
    }

    @Test func `one source for Core Data and MoultNSCoreData`() throws {
        try check(CoreDataClasses(Shelf.model(classes: "Both"), .both, .whole).files, in: "Both")
    }
}

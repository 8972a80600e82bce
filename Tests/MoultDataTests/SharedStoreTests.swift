import Foundation
import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// A store that is meant for Apple's frameworks too.
@Suite struct SharedStoreTests {
    private func open(_ type: any PersistentModel.Type, isShared: Bool) throws {
        let folder = try ScratchFolder()
        var configuration = ModelConfiguration(url: URL(fileURLWithPath: folder.path + "/default.store"))
        configuration.isSharedWithSwiftData = isShared
        _ = try ModelContainer(for: type, configurations: configuration)
    }

    @Test func `is refused where the form of a model there is not known, with the reason`() throws {
        let error = #expect(throws: (any Error).self) { try open(EveryKind.Everything.self, isShared: true) }
        let text = String(describing: error)
        #expect(text.contains("Everything") && text.contains("no public store shows"), "\(text)")
        #expect(throws: MigrationError.self) { try Schema(EveryKind.Everything.self).checkMappings() }
    }

    @Test func `is made where every form is known`() throws {
        try open(NotesV1.Note.self, isShared: true)
        try open(EveryKind.Everything.self, isShared: false)
    }
}

import MoultCoreData
import Testing

/// An app that imports this module alone, and prepares its stores before it loads them.
@Suite struct LaunchTests {
    private func reports(_ launch: StoreLaunch) async throws -> [String]? {
        let outcome = try await launch.prepare()
        guard case .ready(let reports) = outcome else {
            Issue.record("\(outcome)")
            return nil
        }
        return reports.map { "\($0.from) to \($0.to)" }
    }

    @Test func `the stores of a container are prepared, and a store that is not there is ready`() async throws {
        let store = try TestStore()
        let container = PersistentContainer(
            name: "Library", managedObjectModel: try Library.second(), versions: try Library.versions())
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: store.url)]
        let launch = try StoreLaunch(container)
        #expect(try await reports(launch) == [])
        #expect(type(of: launch.progress) == LaunchProgress.self)
        try store.populate(4)
        #expect(try await reports(launch) == ["Library to Library 2"])
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZRATING = 3") == "4")
        // The app's earlier version opens what goBack() restores.
        let restored = try await launch.goBack()
        #expect(restored.count == 1)
        #expect(
            try store.container(Library.first()).viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Book"))
                == 4)
    }
}

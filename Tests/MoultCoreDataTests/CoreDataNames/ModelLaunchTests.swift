import Foundation
import Moult
import MoultCoreData
import MoultModel
import MoultNSCoreData
import MoultStore
import TestSupport
import Testing

/// The call with which an app names its versions on Linux as on Apple's systems.
@Suite struct ModelLaunchTests {
    @Test func `a launch takes versions in Core Data's own form`() async throws {
        let folder = try ScratchFolder()
        let bundle = packageRoot.appendingPathComponent("Examples/Forum.xcdatamodeld")
        let store = URL(fileURLWithPath: folder.path + "/forum.sqlite")
        try StoreCreator(try ModelVersions(contentsOf: bundle).versions[0]).make(at: store.path)
        var models: [NSManagedObjectModel] = []
        for name in ["Forum", "Forum 2"] {
            let url = bundle.appendingPathComponent("\(name).xcdatamodel")
            models.append(try #require(NSManagedObjectModel(contentsOf: url)))
        }
        let launch = StoreLaunch(store: store, models: try .models(models))
        guard case .ready(let reports) = try await launch.prepare() else {
            Issue.record("not ready")
            return
        }
        #expect(reports.map(\.to) == ["2.0"])
        let columns = "SELECT count(*) FROM pragma_table_info('ZPOST') WHERE name = 'ZEDITEDAT'"
        #expect(try SQLiteShell.run(store.path, columns) == "1\n")
    }
}

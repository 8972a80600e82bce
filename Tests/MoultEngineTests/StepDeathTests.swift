import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import TestSupport
import Testing

/// A process that dies calls no undo: it is told what its steps may have left outside of the store.
struct StepDeathTests {
    @Test func `a killed step with an undo is named by journal, history and log, and begins again`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: store, count: 20)
        let before = try FlightVersions.witness(store)
        let child = try EngineChild("linger", store)
        child.wait(for: "sent")
        child.kill()
        #expect(FileManager.default.fileExists(atPath: store + ".sent"))
        let told = try #require(try Migrator().leftOutside(store))
        #expect(told.contains("(send)") && told.contains("runs them again"))

        #expect(try Migrator().recover(store) == .undone)
        #expect(try Migrator().leftOutside(store) == nil)
        #expect(FileManager.default.fileExists(atPath: store + ".sent"))
        #expect(try FlightVersions.witness(store) == before)
        let sidecar = StoreRecords(store: store)
        #expect(try RunHistory(sidecar).records().last?.error == told)
        #expect(try String(contentsOfFile: sidecar.log, encoding: .utf8).contains(told))

        // The next run is given what the dead one was: a store that no step has changed.
        #expect(try EngineChild("stages", store).end() == 0)
        #expect(try FlightVersions.witness(store) == before)
        #expect(try RunHistory(sidecar).records().map(\.result) == [.undone, .done])
    }

    @Test func `a run that goes on undoes for itself, and tells nothing`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Fleet.sqlite"
        try FlightVersions.makeStore(at: store, count: 5)
        struct Stop: Error {}
        var registry = MigrationRegistry()
        registry.steps = ["send": StepCode(execute: { _ in throw Stop() }, undo: { _ in })]
        registry.stages = [
            RegisteredStage(
                from: "V2", to: "V3", name: "decompose", sentence: "Something is sent.",
                before: [CodeStep(name: "send", sentence: "It is sent.")])
        ]
        let prepared = try PreparedMigration(
            store, versions: FlightVersions.make(), options: .init(registry: registry))
        let error = #expect(throws: MigrationError.self) { try Migrator().run(prepared) }
        #expect(error?.message.contains("The step send was undone.") == true)
        #expect(try Migrator().leftOutside(store) == nil)
        #expect(try Migrator().recover(store) == .nothing)
        #expect(try RunHistory(StoreRecords(store: store)).records().map(\.result) == [.failed])
    }
}

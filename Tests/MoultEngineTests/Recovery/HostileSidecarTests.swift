import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What lies beside a store and is not what Moult has written there: the store can be used all the same.
struct HostileSidecarTests {  // tier: long
    private let system = POSIXSystem()

    private func fixture() throws -> (EngineFixture, StoreRecords) {
        let fixture = try EngineFixture(killable: 20, isWAL: false)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        try sidecar.make(system)
        return (fixture, sidecar)
    }

    private static func journal(_ operation: String, files: String = "", backups: String = "backups") -> String {
        """
        {"format":1,"run":"r","operation":"\(operation)","state":"\(operation == "migrate" ? "started" : "committing")","from":"1","to":"2","startedAt":"",
        "schemaVersion":0,"oldChecksum":"","newChecksum":null,"backup":"gone","backups":"\(backups)",
        "newExternalFiles":[\(files)],"steps":[]}
        """
    }

    @Test(arguments: [
        "", "{", "null", "[[[[", String(repeating: "[", count: 100_000), journal("undo"),
        journal("rollback"), journal("rollback", backups: "/nowhere/at/all"),
        journal("migrate", files: "\"..\", \".\", \"\", \"../x\", \"a/b\", \"/etc/passwd\", \"nul\\u0000\""),
    ])
    func `a journal that no run has written does not keep a store from being used`(journal: String) throws {
        let (fixture, sidecar) = try fixture()
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        let before = try fixture.logicalHash()
        try system.write(Array(journal.utf8), to: sidecar.journal)
        _ = try Migrator().recover(fixture.store)
        #expect(try !system.exists(sidecar.journal) && system.exists(external))
        #expect(try fixture.logicalHash() == before)
        #expect(try EngineChild("infer", fixture.store).end() == 0)
    }

    @Test(arguments: ["{\"format\":1,\"run\":\"cut o", "\n\n", "{}", "\u{0}\u{0}\u{0}", "[1]\n{\"format\":2}"])
    func `a history that was cut off takes the next run`(history: String) throws {
        let (fixture, sidecar) = try fixture()
        try system.write(Array(history.utf8), to: sidecar.runs)
        let outcome = try Migrator().run(Pass(from: "1", to: "2"), on: fixture.store)
        #expect(try RunHistory(sidecar).records().map(\.run) == [outcome.run])
    }

    @Test(arguments: [
        "", "{", "{\"pid\":99999999999999,\"since\":7}", "{\"pid\":-1}", String(repeating: "[", count: 9_999),
    ])
    func `a lock that says nonsense is held all the same, and free when nobody holds it`(text: String) throws {
        let (fixture, sidecar) = try fixture()
        try system.write(Array(text.utf8), to: sidecar.lock)
        let held = try #require(try system.lock(sidecar.lock))
        let error = #expect(throws: MigrationError.self) { try Migrator().recover(fixture.store) }
        #expect(error?.code == .locked && error?.message.isEmpty == false)
        #expect(StoreDiagnosis(fixture.store).findings.contains { $0.code == "run-under-way" })
        withExtendedLifetime(held) {}
        _ = consume held
        #expect(try Migrator().recover(fixture.store) == .nothing)
    }
}

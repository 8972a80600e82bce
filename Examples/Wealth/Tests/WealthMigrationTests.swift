import Foundation
import MoultCoreData
import Synchronization
import TestSupport
import Testing

@testable import WealthLedger

@Suite("Example Wealth")
struct WealthMigrationTests {  // tier: long
    /// A sample in a folder of its own, of version 1.0.0.
    private struct Ledger {
        let folder: ScratchFolder
        let url: URL
        let reports: URL
        let versions: VersionRegistry

        init() throws {
            folder = try ScratchFolder()
            let root = URL(fileURLWithPath: folder.path)
            (url, reports) = (root.appendingPathComponent("ledger.sqlite"), root.appendingPathComponent("reports"))
            versions = try WealthVersions.registry(reports: reports)
            try WealthSample.make(at: url)
        }

        func rows(_ sql: String) throws -> [String] {
            try SQLiteShell.run(url.path, sql).split(separator: "\n").map(String.init)
        }

        /// The names of the lists outside of the store.
        var lists: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: reports.path)) ?? []).sorted()
        }

        /// Everything that the store holds, as SQL.
        func dump() throws -> String { try SQLiteShell.run(url.path, ".dump") }
    }

    @Test func `all amounts of money are the same to the last digit, through every version and back`() async throws {
        let ledger = try Ledger()
        let query = """
            SELECT ZSYMBOL, typeof(ZQUANTITY), ZQUANTITY, typeof(ZPRICE), ZPRICE, typeof(ZCURRENTVALUE), ZCURRENTVALUE
            FROM ZASSET ORDER BY Z_PK
            """
        let before = try ledger.rows(query)
        try await ledger.versions.migrate(storeAt: ledger.url)
        #expect(try ledger.rows(query) == before)
        // The digits that were written, as an app reads them.
        let coordinator = PersistentStoreCoordinator(
            managedObjectModel: try #require(ledger.versions.current).model)
        let store = try coordinator.addPersistentStore(at: ledger.url)
        let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        let read = try context.performAndWait {
            try context.fetch(FetchRequest<ManagedObject>(entityName: "Asset")).map { asset in
                [try asset.string("symbol")]
                    + (try ["quantity", "price", "currentValue"].map { "\(try asset.amount($0))" })
            }
        }
        try coordinator.remove(store)
        #expect(
            Set(read) == [
                ["DBX", "10", "100.1", "1001"], ["ACME", "3", "333.3333333333", "1001"], ["UKG", "7", "143", "1001"],
                ["BOND", "9999999999999.99", "1", "9999999999999.99"],
                ["NOK1", "0.1", "0.000000000000001", "0.000000000123456"],
                ["EURO", "411522630.033333", "0.3", "123456789.01"],
            ])
    }

    @Test func `shares of every portfolio come to a hundred, and currencies to the sum of their assets`() async throws {
        let ledger = try Ledger()
        try await ledger.versions.migrate(storeAt: ledger.url)
        #expect(
            try ledger.rows(
                "SELECT sum(CAST(round(ZEXPOSUREPERCENT * 100) AS INTEGER)) FROM ZASSET GROUP BY ZPORTFOLIO") == [
                    "10000", "10000",
                ])
        #expect(
            try ledger.rows("SELECT ZSYMBOL, ZEXPOSUREPERCENT FROM ZASSET ORDER BY Z_PK LIMIT 3")
                == ["DBX|33.33", "ACME|33.34", "UKG|33.33"])
        // The foreign currencies of each portfolio, with what their assets come to.
        let risks = """
            SELECT p.ZNAME, r.ZCURRENCY, CAST(round(r.ZEXPOSUREPERCENT * 100) AS INTEGER), h.ZNAME
            FROM ZCURRENCYRISK r JOIN ZPORTFOLIO p ON p.Z_PK = r.ZPORTFOLIO JOIN ZHEDGINGSTRATEGY h ON h.Z_PK = r.ZHEDGING
            ORDER BY 1, 2
            """
        let expected = """
            SELECT p.ZNAME, a.ZCURRENCY, CAST(round(sum(a.ZEXPOSUREPERCENT) * 100) AS INTEGER),
            iif(sum(a.ZEXPOSUREPERCENT) >= 25, 'Half', 'None')
            FROM ZASSET a JOIN ZPORTFOLIO p ON p.Z_PK = a.ZPORTFOLIO WHERE a.ZCURRENCY <> p.ZBASECURRENCY
            GROUP BY 1, 2 ORDER BY 1, 2
            """
        #expect(try ledger.rows(risks) == ledger.rows(expected))
        #expect(try ledger.rows("SELECT count(*) FROM ZCURRENCYRISK") == ["4"])
        #expect(
            try ledger.rows(
                "SELECT count(*) FROM ZASSET a JOIN ZCURRENCYRISK r ON r.Z_PK = a.ZCURRENCYRISK WHERE a.ZCURRENCY = r.ZCURRENCY"
            )
                == ["4"])
    }

    @Test
    func `a quarter of a portfolio in one foreign currency is half secured, a hair less is not at all`() async throws {
        let ledger = try Ledger()
        _ = try ledger.rows(
            """
            UPDATE ZASSET SET ZPORTFOLIO = (SELECT ZPORTFOLIO FROM ZASSET WHERE ZSYMBOL = 'ACME') WHERE ZSYMBOL = 'EURO';
            UPDATE ZASSET SET ZCURRENCY = 'USD' WHERE ZSYMBOL = 'DBX';
            UPDATE ZASSET SET ZCURRENTVALUE = CASE ZSYMBOL WHEN 'UKG' THEN 24.99 WHEN 'EURO' THEN 50.01 ELSE 12.5 END
            WHERE ZSYMBOL IN ('ACME', 'UKG', 'DBX', 'EURO')
            """)
        try await ledger.versions.migrate(storeAt: ledger.url)
        #expect(
            try ledger.rows(
                """
                SELECT r.ZCURRENCY, r.ZEXPOSUREPERCENT, h.ZNAME, h.ZRATIO,
                (SELECT count(*) FROM ZASSET WHERE ZCURRENCYRISK = r.Z_PK) FROM ZCURRENCYRISK r
                JOIN ZHEDGINGSTRATEGY h ON h.Z_PK = r.ZHEDGING WHERE r.ZCURRENCY IN ('USD', 'GBP') ORDER BY 1
                """) == ["GBP|24.99|None|0|1", "USD|25|Half|0.5|2"])
    }

    @Test func `owners get tax residencies with their schemes, and documents the assets that they name`() async throws {
        let ledger = try Ledger()
        try await ledger.versions.migrate(storeAt: ledger.url)
        #expect(
            try ledger.rows(
                """
                SELECT o.ZNAME, t.ZCOUNTRY, c.ZSCHEME FROM ZOWNER o LEFT JOIN ZTAXRESIDENCY t ON t.ZOWNER = o.Z_PK
                LEFT JOIN ZCOMPLIANCEREQUIREMENT c ON c.ZRESIDENCY = t.Z_PK ORDER BY 1
                """) == ["Ada|DE|CRS", "Grace|US|FATCA", "Plato||"])
        #expect(
            try ledger.rows(
                "SELECT d.ZASSETSYMBOL, a.ZSYMBOL FROM ZDOCUMENT d LEFT JOIN ZASSET a ON a.Z_PK = d.ZASSET ORDER BY d.ZTITLE"
            )
                == ["BOND|BOND", "ACME|ACME", "|", "SOLD|", "DBX|DBX"])
        #expect(
            ledger.lists == [
                "CreateTaxResidencyEntities.txt", "MigrateDocumentReferences.txt", "UpdateComplianceRequirements.txt",
            ])
        #expect(
            try String(
                contentsOf: ledger.reports.appendingPathComponent("MigrateDocumentReferences.txt"), encoding: .utf8
            )
            .contains("Of something sold: no asset SOLD\n"))
    }

    @Test
    func `when a step fails, the steps before it are undone, last first, and the store is untouched`() async throws {
        let ledger = try Ledger()
        try await ledger.versions.migrate(storeAt: ledger.url, to: SemanticVersion(1, 2))
        let before = try ledger.dump()
        let undone = Mutex<[String]>([])
        let good = WealthVersions.compliance(Reports(folder: ledger.reports)).customMigrationSteps
        let noting = ["first", "second"].map { name in
            MigrationStep(
                name: name, description: "It does nothing.", execute: { _ in },
                rollback: { _ in undone.withLock { $0.append(name) } })
        }
        let failing = MigrationStep(name: "FinalValidation", description: "It fails.", execute: { _ in throw Wrong() })
        let migration = VersionedMigration(
            from: SemanticVersion(1, 2), to: SemanticVersion(1, 3), type: .dataTransformation,
            customMigrationSteps: [noting[0]] + good + [noting[1], failing], description: "It fails at its end.")
        let versions = try VersionRegistry(
            ledger.versions.versions, migrations: [WealthVersions.currencyRisk, migration])
        let error = await #expect(throws: MigrationError.self) { try await versions.migrate(storeAt: ledger.url) }
        #expect(error?.code == .stageFailed)
        #expect(error?.description.contains("FinalValidation") == true)
        #expect(undone.withLock { $0 } == ["second", "first"])
        #expect(ledger.lists == [])
        #expect(try ledger.dump() == before)
        #expect(try versions.status(ofStoreAt: ledger.url).version == SemanticVersion(1, 2))
    }

    private struct Wrong: Error {}

    @Test func `a ledger says its version and how far behind it is, and goes back to 1.2.0 on request`() async throws {
        let ledger = try Ledger()
        #expect(try ledger.versions.status(ofStoreAt: ledger.url).versionsBehind == 3)
        try await ledger.versions.migrate(storeAt: ledger.url, stopsAtEachVersion: true)
        #expect(try ledger.versions.status(ofStoreAt: ledger.url).versionsBehind == 0)
        try await ledger.versions.rollBack(storeAt: ledger.url, to: SemanticVersion(1, 2))
        let status = try ledger.versions.status(ofStoreAt: ledger.url)
        #expect(status.version == SemanticVersion(1, 2))
        #expect(status.versionsBehind == 1)
        #expect(try ledger.rows("SELECT count(*) FROM ZCURRENCYRISK") == ["4"])
        #expect(try ledger.rows("SELECT count(*) FROM sqlite_master WHERE name = 'ZTAXRESIDENCY'") == ["0"])
    }

    @Test func `every way forward has a plan whose times and steps add up, and none leads back`() throws {
        let versions = try WealthVersions.registry(reports: URL(fileURLWithPath: "/nowhere"))
        let numbers = versions.versions.map(\.version)
        for (start, from) in numbers.enumerated() {
            for (end, to) in numbers.enumerated() {
                guard start <= end else {
                    #expect { try versions.migrationPlan(from: from, to: to) } throws: {
                        ($0 as? MigrationError)?.code == .incompatibleVersion
                    }
                    continue
                }
                let plan = try versions.migrationPlan(from: from, to: to)
                #expect((plan == nil) == (start == end))
                let times: [TimeInterval] = [30, 60, 45]
                #expect((plan?.estimatedTime ?? 0) == times[start..<end].reduce(0, +))
                #expect((plan?.customMigrationSteps.count ?? 0) == [0, 3, 3][start..<end].reduce(0, +))
            }
        }
        let whole = try #require(try versions.migrationPlan(from: SemanticVersion(1, 0), to: SemanticVersion(1, 3)))
        #expect(whole.estimatedTime > 100)
        #expect(whole.type == .heavyweight)
        #expect(
            whole.customMigrationSteps.map(\.name) == [
                "CreateCurrencyRiskEntities", "PopulateCurrencyExposure", "SetupDefaultHedgingStrategies",
                "CreateTaxResidencyEntities", "UpdateComplianceRequirements", "MigrateDocumentReferences",
            ])
    }

    @Test func `progress begins at 0, never goes back, and names the backup before any step`() async throws {
        let ledger = try Ledger()
        let seen = Mutex<[(Double, String)]>([])
        try await ledger.versions.migrate(storeAt: ledger.url) { fraction, message in
            seen.withLock { $0.append((fraction, message)) }
        }
        let all = seen.withLock { $0 }
        #expect(all.map(\.0) == all.map(\.0).sorted())
        #expect(all.last?.0 == 1)
        let backup = try #require(all.firstIndex { $0.1.contains("Made the backup") })
        let step = try #require(all.firstIndex { $0.1.contains("foreign currency") })
        #expect(backup < step)
    }

    @Test func `every command of the README ends as the README says`() throws {
        let run = try ExampleRun("Wealth")
        #expect(run.output(of: "wealth-ledger versions").contains("1.2.0  2025-02-10  heavyweight  Currency risk."))
        #expect(run.output(of: "wealth-ledger status ledger.sqlite").contains("1.0.0, 3 behind 1.3.0"))
        #expect(run.output(of: "wealth-ledger plan").contains("1.0.0 → 1.1.0 → 1.2.0 → 1.3.0"))
        #expect(run.output(of: "wealth-ledger validate").contains("sound"))
        #expect(run.output(of: "cat reports").contains("Of something sold: no asset SOLD"))
        #expect(run.output(of: "wealth-ledger status ledger.sqlite", 1).contains("1.2.0, 1 behind 1.3.0"))
    }
}

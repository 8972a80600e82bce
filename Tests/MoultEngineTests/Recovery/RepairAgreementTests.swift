import Foundation
import Moult
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// What a repair says and what an audit finds afterwards are one: of faults made with the sqlite3 shell, alone and several
/// at once.
struct RepairAgreementTests {  // tier: long
    private static let unique = "Z_Tag_UNIQUE_name"
    private static let damages = [
        "DROP INDEX \(unique); UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK = 2",
        "UPDATE ZSHELF SET ZPARENT = 77 WHERE Z_PK = 10",
        "DELETE FROM ATRANSACTION WHERE Z_PK = 7",
        "DROP TABLE ATRANSACTION",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Tag'",
        "DELETE FROM ZSHELF WHERE Z_PK = 2",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 16001",
        "ALTER TABLE ACHANGE DROP COLUMN ZCOLUMNS",
        "UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 1",
        "DROP TABLE ATRANSACTIONSTRING",
        "CREATE TABLE mine (a)",
        "UPDATE ZTAG SET Z_ENT = 99 WHERE Z_PK = 9",
        """
        DROP INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME;
        INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (2, 16003, 'app')
        """,
        "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000",
        "DROP TABLE ZCOVER",
        "ALTER TABLE ZLOAN DROP COLUMN ZREADER",
        "DELETE FROM ATRANSACTIONSTRING",
        "DROP INDEX ZLOAN_ZBOOK_INDEX",
    ]

    /// The places of the damages that are done together.
    private static let trials = damages.indices.map { [$0] } + damages.indices.map { [$0, ($0 + 1) % damages.count] }

    @Test(arguments: trials)
    func `what a repair has repaired is not found again, and what it could not repair is`(trial: [Int]) throws {
        let library = try LibraryStore(history: true)
        try library.shell(HistoryDamageTests.rows)
        for (number, place) in trial.enumerated() {
            // The second damage may be to what the first one has taken away.
            do { try library.shell(Self.damages[place]) } catch  where number > 0 {}
        }
        var report = RepairReport()
        for _ in 0..<2 {
            let repair = try StoreRepair(library.path, at: library.version, accepting: .all)
            report = repair.found
            guard let migration = repair.migration else { break }
            _ = try Migrator().run(migration, on: library.path)
            report = repair.report
            // The rows are looked at once tables and columns are whole.
            if !repair.leavesRows { break }
        }
        let audit = try StoreAudit(library.path, model: library.version.model, full: true)
        let found = audit.findings.filter { $0.severity > .note }
        #expect(report.isWell == audit.isSound, "\(report)\n\(found)")
        for finding in found {
            guard let rules = RepairRule.repairing[finding.code] else { continue }
            let isLeft = report.faults.contains { rules.contains($0.rule) && $0.left > 0 }
            #expect(isLeft || report.remarks.contains { $0.code == finding.code }, "\(finding)")
        }
        let next = try StoreRepair(library.path, at: library.version)
        #expect(next.found.isWell == report.isWell && next.found.left == report.left)
        if report.isWell { #expect(next.migration == nil) }
    }
}

/// A diagnosis and an audit are of one mind about a store, whatever is wrong with it.
struct DiagnosisAgreementTests {  // tier: long
    @Test(arguments: [
        "SELECT 1", "UPDATE ZSHELF SET ZBOOKCOUNT = 99 WHERE Z_PK = 4", "UPDATE Z_METADATA SET Z_UUID = NULL",
        "UPDATE ZTAG SET Z_ENT = 99 WHERE Z_PK = 9", "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Tag'",
        "UPDATE ZSHELF SET ZPARENT = Z_PK WHERE Z_PK = 3", "UPDATE ZBOOK SET ZTITLE = x'00ff' WHERE Z_PK = 3",
        "DROP TABLE ZCOVER", "ALTER TABLE ZLOAN ADD COLUMN ZOWN", "UPDATE ZBOOK SET ZCOVER = NULL WHERE Z_PK = 1",
    ])
    func `what one calls sound the other does too`(sql: String) throws {
        let library = try LibraryStore()
        try library.shell(sql)
        let diagnosis = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        let errors = diagnosis.findings.filter { $0.severity > .note }.map(\.code)
        for full in [false, true] {
            let audit = try StoreAudit(library.path, model: library.version.model, full: full)
            #expect(audit.isSound == diagnosis.isWell, "\(errors) \(audit.findings.map(\.code))")
        }
        #expect(!errors.contains("not-examined"), "\(errors)")
    }
}

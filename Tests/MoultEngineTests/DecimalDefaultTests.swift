import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Default values of more digits than a column keeps: rows get the nearest number, and the plan says so.
struct DecimalDefaultTests {
    private static func versions(_ digits: String) throws -> ModelVersions {
        func version(_ number: Int, _ attributes: [AttributeDescription]) throws -> ModelVersion {
            ModelVersion(
                names: ["\(number)"],
                model: try ManagedObjectModel(entities: [EntityDescription(name: "Loan", attributes: attributes)]))
        }
        let old = AttributeDescription(name: "fee", type: .decimal)
        var new = AttributeDescription(name: "rate", type: .decimal, isOptional: false)
        var filled = AttributeDescription(name: "fee", type: .decimal, isOptional: false)
        new.defaultValue = .decimal(digits)
        filled.defaultValue = .decimal(digits)
        return ModelVersions(versions: [try version(1, [old]), try version(2, [filled, new])])
    }

    @Test(
        arguments: [
            ("0.123456789012345678", "0.123456789012346"), ("12345678901234567.89", "12345678901234568"),
            ("0.12345", nil), ("-1", nil), ("9223372036854775807", nil),
        ] as [(String, String?)])
    func `a rounded default is counted, one that fits is not`(digits: String, nearest: String?) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Loans.sqlite"
        let versions = try Self.versions(digits)
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        for fee in ["1.5", nil, "2", nil, nil] {
            _ = try writer.insert("Loan", ["fee": .attribute(fee.map(AttributeValue.decimal))])
        }
        try writer.finish()

        let prepared = try PreparedMigration(store, versions: versions)
        let findings = (prepared.bound?.findings ?? []).filter { $0.code == "values-rounded" }
        #expect(findings.map(\.place) == (nearest == nil ? [] : ["Loan.fee", "Loan.rate"]))
        #expect(findings.allSatisfy { $0.severity == .warning && $0.message.contains(digits) })
        if nearest != nil {
            #expect(findings.first?.message.contains("; 3 objects get") == true)
            #expect(findings.last?.message.contains("; 5 objects get") == true)
        }
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        let expected = nearest ?? digits
        #expect(
            try SQLiteShell.run(store, "SELECT DISTINCT ZRATE FROM ZLOAN") == expected + "\n")
        #expect(
            try SQLiteShell.run(store, "SELECT ZFEE FROM ZLOAN ORDER BY Z_PK")
                == ["1.5", expected, "2", expected, expected].map { $0 + "\n" }.joined())
    }
}

import Foundation
import MoultCoreData

/// Every released version of the ledger, and what leads from one to the next.
public enum WealthVersions {
    /// - Parameter reports: the folder for what migrations write outside of the store.
    /// - Throws: `modelInvalid`, `stagesInvalid` where versions or migrations do not fit together.
    public static func registry(reports: URL) throws -> VersionRegistry {
        let first = try WealthModel.first()
        let performance = try WealthModel.withPerformance(first)
        let risk = try WealthModel.withCurrencyRisk(performance)
        let compliance = try WealthModel.withCompliance(risk)
        return try VersionRegistry(
            [
                RegisteredVersion(
                    SemanticVersion(1, 0), model: first, description: "Owners, portfolios, assets.",
                    date: "2024-01-15"),
                RegisteredVersion(
                    SemanticVersion(1, 1), model: performance, description: "Performance metrics.", date: "2024-06-01"),
                RegisteredVersion(
                    SemanticVersion(1, 2), model: risk, description: "Currency risk.", date: "2025-02-10",
                    type: .heavyweight),
                RegisteredVersion(
                    SemanticVersion(1, 3), model: compliance, description: "Compliance and tax residency.",
                    date: "2025-09-30", type: .dataTransformation),
            ], migrations: [currencyRisk, Self.compliance(Reports(folder: reports))])
    }

    /// The versions as a table.
    public static func table(_ registry: VersionRegistry) -> String {
        registry.versions.map { version in
            [version.version.description, version.date, version.type.rawValue, version.description]
                .joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// What leads to 1.1.0 is inferred: nobody has to register it.
    static let currencyRisk = VersionedMigration(
        from: SemanticVersion(1, 1), to: SemanticVersion(1, 2), type: .heavyweight, estimatedTime: 60,
        customMigrationSteps: [
            MigrationStep(
                name: "CreateCurrencyRiskEntities", description: "One risk for each foreign currency of a portfolio.",
                execute: { try $0.whole(CurrencyRisk.create) }),
            MigrationStep(
                name: "PopulateCurrencyExposure", description: "The share of each asset and currency, in percent.",
                execute: { try $0.whole(CurrencyRisk.populateExposure) }),
            MigrationStep(
                name: "SetupDefaultHedgingStrategies", description: "A strategy for each risk.",
                execute: { try $0.whole(CurrencyRisk.setUpHedging) }),
        ], description: "Currency risk is worked out for every portfolio.")

    /// Each step also leaves a list outside of the store, and takes it back if anything after it fails.
    static func compliance(_ reports: Reports) -> VersionedMigration {
        VersionedMigration(
            from: SemanticVersion(1, 2), to: SemanticVersion(1, 3), type: .dataTransformation, estimatedTime: 45,
            customMigrationSteps: [
                reports.step(
                    "CreateTaxResidencyEntities", "A tax residency for each owner whose country is known.",
                    Compliance.createTaxResidencies),
                reports.step(
                    "UpdateComplianceRequirements", "What has to be reported for each tax residency.",
                    Compliance.updateRequirements),
                reports.step(
                    "MigrateDocumentReferences", "Each document leads to the asset whose symbol it names.",
                    Compliance.migrateDocumentReferences),
            ], description: "Tax residencies and compliance requirements are set up.")
    }
}

extension ManagedObjectContext {
    /// One turn of the context that ends with a save.
    func whole<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
        try performAndWait {
            let result = try body(self)
            try save()
            return result
        }
    }
}

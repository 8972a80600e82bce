import MoultCoreData

/// The versions of the ledger's model, made in code: each is the one before it and what it adds.
public enum WealthModel {
    /// Owners with their portfolios, the assets in them, and documents that name an asset by its symbol.
    static func first() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Owner",
                    properties: [
                        text("name", optional: false), text("country"),
                        many("portfolios", "Portfolio", inverse: "owner", .cascade),
                    ]),
                EntityDescription(
                    name: "Portfolio",
                    properties: [
                        text("name", optional: false), text("baseCurrency", optional: false), date("createdAt"),
                        one("owner", "Owner", inverse: "portfolios"),
                        many("assets", "Asset", inverse: "portfolio", .cascade),
                    ]),
                EntityDescription(
                    name: "Asset",
                    properties: [
                        text("symbol", optional: false), text("currency", optional: false),
                        amount("quantity", optional: false), amount("price", optional: false),
                        // What it is worth in the portfolio's own currency.
                        amount("currentValue", optional: false),
                        one("portfolio", "Portfolio", inverse: "assets"),
                    ]),
                EntityDescription(
                    name: "Document",
                    properties: [text("title", optional: false), text("assetSymbol")]),
            ], versionIdentifiers: ["1.0.0"])
    }

    /// What an asset has cost, and how a portfolio did from day to day.
    static func withPerformance(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
        try model.version(
            "1.1.0",
            adding: [
                EntityDescription(
                    name: "PerformanceMetric",
                    properties: [
                        date("day", optional: false), amount("value", optional: false),
                        one("portfolio", "Portfolio", inverse: "metrics"),
                    ])
            ],
            to: [
                "Asset": [amount("costBasis")],
                "Portfolio": [many("metrics", "PerformanceMetric", inverse: "portfolio", .cascade)],
            ])
    }

    /// How much of a portfolio hangs on which currency, and what is done about it.
    static func withCurrencyRisk(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
        try model.version(
            "1.2.0",
            adding: [
                EntityDescription(
                    name: "CurrencyRisk",
                    properties: [
                        text("currency", optional: false), amount("exposurePercent"),
                        one("portfolio", "Portfolio", inverse: "currencyRisks"),
                        many("assets", "Asset", inverse: "currencyRisk"),
                        one("hedging", "HedgingStrategy", inverse: "risks"),
                    ]),
                EntityDescription(
                    name: "HedgingStrategy",
                    properties: [
                        text("name", optional: false), amount("ratio", optional: false),
                        many("risks", "CurrencyRisk", inverse: "hedging"),
                    ]),
            ],
            to: [
                "Asset": [amount("exposurePercent"), one("currencyRisk", "CurrencyRisk", inverse: "assets")],
                "Portfolio": [many("currencyRisks", "CurrencyRisk", inverse: "portfolio", .cascade)],
            ])
    }

    /// Where an owner pays taxes, what has to be reported there, and documents that hold on to their asset itself.
    static func withCompliance(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
        try model.version(
            "1.3.0",
            adding: [
                EntityDescription(
                    name: "TaxResidency",
                    properties: [
                        text("country", optional: false), one("owner", "Owner", inverse: "taxResidencies"),
                        many("requirements", "ComplianceRequirement", inverse: "residency", .cascade),
                    ]),
                EntityDescription(
                    name: "ComplianceRequirement",
                    properties: [
                        text("scheme", optional: false), one("residency", "TaxResidency", inverse: "requirements"),
                    ]),
            ],
            to: [
                "Owner": [many("taxResidencies", "TaxResidency", inverse: "owner", .cascade)],
                "Asset": [many("documents", "Document", inverse: "asset")],
                "Document": [one("asset", "Asset", inverse: "documents")],
            ])
    }
}

import Foundation
import MoultCoreData

/// What version 1.2.0 does to the objects of a ledger.
enum CurrencyRisk {
    /// One risk for each currency of a portfolio but its own, and its assets with it.
    static func create(in context: ManagedObjectContext) throws {
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "Portfolio")) { portfolio in
            let home = try portfolio.string("baseCurrency")
            for (currency, assets) in try Dictionary(
                grouping: portfolio.objects("assets"), by: { try $0.string("currency") }
            )
            .sorted(by: { $0.key < $1.key }) where currency != home {
                let risk = try context.insertNewObject(forEntityName: "CurrencyRisk")
                try risk.setValue(currency, forKey: "currency")
                try risk.setValue(portfolio, forKey: "portfolio")
                try risk.setValue(Set(assets), forKey: "assets")
            }
        }
    }

    /// The share of each asset in its portfolio, in percent to two digits, and of each currency: all shares of a
    /// portfolio come to exactly 100.
    static func populateExposure(in context: ManagedObjectContext) throws {
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "Portfolio")) { portfolio in
            let assets = try portfolio.objects("assets").sorted { try $0.string("symbol") < $1.string("symbol") }
            let shares = Shares.percent(of: try assets.map { try $0.amount("currentValue") })
            for (asset, share) in zip(assets, shares) { try asset.setValue(share, forKey: "exposurePercent") }
            for risk in try portfolio.objects("currencyRisks") {
                let sum = try risk.objects("assets").reduce(Decimal()) { try $0 + $1.amount("exposurePercent") }
                try risk.setValue(sum, forKey: "exposurePercent")
            }
        }
    }

    /// A quarter of a portfolio or more in one foreign currency is half secured; less is left alone.
    static func setUpHedging(in context: ManagedObjectContext) throws {
        let strategies = try [("None", Decimal(0)), ("Half", Decimal(sign: .plus, exponent: -1, significand: 5))].map {
            let strategy = try context.insertNewObject(forEntityName: "HedgingStrategy")
            try strategy.setValue($0.0, forKey: "name")
            try strategy.setValue($0.1, forKey: "ratio")
            return strategy
        }
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "CurrencyRisk")) { risk in
            try risk.setValue(strategies[risk.amount("exposurePercent") >= 25 ? 1 : 0], forKey: "hedging")
        }
    }
}

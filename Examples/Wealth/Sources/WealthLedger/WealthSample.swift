import Foundation
import MoultCoreData

/// Makes a ledger of version 1.0.0 with money in it that no binary fraction can hold.
public enum WealthSample {
    /// - Throws: `usage` where there is a file already.
    public static func make(at url: URL) throws {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw MigrationError(
                .usage, "There is a file already.", place: url.path, remedy: "Name a path where there is none.")
        }
        let coordinator = PersistentStoreCoordinator(managedObjectModel: try WealthModel.first())
        let store = try coordinator.addPersistentStore(at: url)
        let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        try context.performAndWait {
            for owner in owners { try add(owner, to: context) }
            try context.save()
        }
        try coordinator.remove(store)
    }

    private static func add(_ owner: Owner, to context: ManagedObjectContext) throws {
        let person = try context.insertNewObject(forEntityName: "Owner")
        try person.setValue(owner.name, forKey: "name")
        try person.setValue(owner.country, forKey: "country")
        let portfolio = try context.insertNewObject(forEntityName: "Portfolio")
        try portfolio.setValue("\(owner.name)'s savings", forKey: "name")
        try portfolio.setValue(owner.currency, forKey: "baseCurrency")
        try portfolio.setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "createdAt")
        try portfolio.setValue(person, forKey: "owner")
        for (symbol, currency, quantity, price, value) in owner.assets {
            let asset = try context.insertNewObject(forEntityName: "Asset")
            try asset.setValue(symbol, forKey: "symbol")
            try asset.setValue(currency, forKey: "currency")
            for (key, digits) in [("quantity", quantity), ("price", price), ("currentValue", value)] {
                try asset.setValue(Decimal(string: digits), forKey: key)
            }
            try asset.setValue(portfolio, forKey: "portfolio")
        }
        for (title, symbol) in owner.documents {
            let document = try context.insertNewObject(forEntityName: "Document")
            try document.setValue(title, forKey: "title")
            try document.setValue(symbol, forKey: "assetSymbol")
        }
    }

    private struct Owner {
        let name: String
        let country: String?
        let currency: String
        let assets: [(symbol: String, currency: String, quantity: String, price: String, value: String)]
        let documents: [(title: String, symbol: String?)]
    }

    private static let owners = [
        Owner(
            name: "Ada", country: "DE", currency: "EUR",
            assets: [
                ("DBX", "EUR", "10", "100.10", "1001.00"), ("ACME", "USD", "3", "333.3333333333", "1001.00"),
                ("UKG", "GBP", "7", "143", "1001.00"),
            ],
            documents: [("Invoice of ACME", "ACME"), ("Statement of DBX", "DBX"), ("Of something sold", "SOLD")]),
        Owner(
            name: "Grace", country: "US", currency: "USD",
            assets: [
                ("BOND", "USD", "9999999999999.99", "1", "9999999999999.99"),
                ("NOK1", "NOK", "0.1", "0.000000000000001", "0.000000000123456"),
                ("EURO", "EUR", "411522630.033333", "0.3", "123456789.01"),
            ],
            documents: [("Certificate of BOND", "BOND"), ("Letter", nil)]),
        Owner(name: "Plato", country: nil, currency: "EUR", assets: [], documents: []),
    ]
}

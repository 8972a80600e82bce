import Foundation
import MoultCoreData

/// What version 1.3.0 does to the objects of a ledger. Each step gives one line for each object that it concerns.
enum Compliance {
    /// Each owner pays taxes in the country that was known of them.
    static func createTaxResidencies(in context: ManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "Owner")) { owner in
            guard let country = try owner.value(forKey: "country") as? String else { return }
            let residency = try context.insertNewObject(forEntityName: "TaxResidency")
            try residency.setValue(country, forKey: "country")
            try residency.setValue(owner, forKey: "owner")
            lines.append("\(try owner.string("name")): \(country)")
        }
        return lines
    }

    /// Accounts of the United States are reported by their own scheme, all others by the common one.
    static func updateRequirements(in context: ManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "TaxResidency")) { residency in
            let country = try residency.string("country")
            let scheme = country == "US" ? "FATCA" : "CRS"
            let requirement = try context.insertNewObject(forEntityName: "ComplianceRequirement")
            try requirement.setValue(scheme, forKey: "scheme")
            try requirement.setValue(residency, forKey: "residency")
            lines.append("\(country): \(scheme)")
        }
        return lines
    }

    /// A document leads to the asset that it named by its symbol. A symbol that no asset has any more stays what it
    /// is: words on a document, which the list names.
    static func migrateDocumentReferences(in context: ManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        try context.enumerate(FetchRequest<ManagedObject>(entityName: "Document")) { document in
            guard let symbol = try document.value(forKey: "assetSymbol") as? String else { return }
            var request = FetchRequest<ManagedObject>(entityName: "Asset")
            request.predicate = try FetchPredicate(format: "symbol == %@", symbol)
            request.fetchLimit = 1
            let asset = try context.fetch(request).first
            try document.setValue(asset, forKey: "asset")
            lines.append("\(try document.string("title")): \(asset == nil ? "no asset \(symbol)" : symbol)")
        }
        return lines
    }
}

import Foundation
import MoultBasics
import MoultModel

/// A fetch of transactions or changes from history.
struct HistoryFetch {
    private let kind: Kind
    private let condition: (predicate: MoultModel.Predicate, variables: [String: ExpressionValue])?
    private let limit: Int

    /// The kind of records to fetch, with the keys for predicates. The names are those of Core Data's entities.
    private enum Kind: String {
        case transaction = "TRANSACTION"
        case change = "CHANGE"

        var keys: KeyValuePairs<String, NSAttributeType> {
            switch self {
            case .transaction:
                [
                    "author": .stringAttributeType, "bundleID": .stringAttributeType,
                    "contextName": .stringAttributeType, "processID": .stringAttributeType,
                    "storeID": .stringAttributeType, "timestamp": .dateAttributeType,
                    "transactionNumber": .integer64AttributeType,
                ]
            case .change:
                [
                    "changeID": .integer64AttributeType, "changeType": .integer16AttributeType,
                    "changedObjectID": .objectIDAttributeType,
                ]
            }
        }

        /// The key paths that a predicate may use.
        var keyPaths: [String] {
            let own = keys.map(\.key)
            return self == .change ? own + Kind.transaction.keys.map { "transaction.\($0.key)" } : own
        }
    }

    /// - Throws: `fetchUnsupported` for another entity, a predicate over other keys, or an order.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>) throws {
        func refused(_ message: String, _ remedy: String) -> MigrationError {
            MigrationError(
                .fetchUnsupported, message, place: "NSPersistentHistoryChangeRequest.fetchRequest", remedy: remedy)
        }
        guard let kind = request.entityName.flatMap(Kind.init) else {
            throw refused(
                "History has no entity \(request.entityName ?? "").",
                "Use NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
        }
        guard request.sortDescriptors?.isEmpty ?? true else {
            throw refused("History is in the order of the saves.", "Remove sortDescriptors, and sort the result.")
        }
        condition = try request.predicate?.moult(for: "NSPersistentHistoryChangeRequest.fetchRequest")
        let unknown = (condition?.predicate.keyPaths ?? []).subtracting(kind.keyPaths)
        guard unknown.isEmpty else {
            throw refused(
                "A \(kind) of history has no \(unknown.sorted().joined(separator: ", ")).",
                "The keys are \(kind.keyPaths.joined(separator: ", ")).")
        }
        self.kind = kind
        limit = request.fetchLimit == 0 ? .max : request.fetchLimit
    }

    /// The transactions that fit; of a fetch of changes those that have any that fit, with these alone.
    ///
    /// - Throws: an error of the predicate, such as for values that cannot be compared.
    func results(_ transactions: [NSPersistentHistoryTransaction]) throws -> [NSPersistentHistoryTransaction] {
        switch kind {
        case .transaction: return Array(try transactions.filter { try fits($0.values) }.prefix(limit))
        case .change:
            var left = limit
            return try transactions.compactMap { transaction in
                let found = try (transaction.changes ?? []).filter { try fits($0.values) }
                let changes = found.prefix(left).map(\.change)
                left -= changes.count
                return changes.isEmpty ? nil : transaction.with(changes)
            }
        }
    }

    private func fits(_ values: [String: Any]) throws -> Bool {
        try condition.map { try PredicateSubject(values).holds($0.predicate, $0.variables) } ?? true
    }

    static func transactions() -> NSEntityDescription { entity(.transaction) }
    static func changes() -> NSEntityDescription { entity(.change) }

    private static func entity(_ kind: Kind) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = kind.rawValue
        entity.properties = kind.keys.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        return entity
    }
}

extension NSPersistentHistoryTransaction {
    fileprivate var values: [String: Any] {
        var values: [String: Any] = [
            "bundleID": bundleID, "processID": processID, "storeID": storeID, "timestamp": timestamp,
            "transactionNumber": transactionNumber,
        ]
        values["author"] = author
        values["contextName"] = contextName
        return values
    }

    /// The entity of transactions, with the attributes that a fetch of them may ask for.
    public class var entityDescription: NSEntityDescription? { HistoryFetch.transactions() }
    /// The same.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }
    /// A fetch of transactions, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate may use `author`,
    /// `bundleID`, `contextName`, `processID`, `storeID`, `timestamp` and `transactionNumber`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .history(HistoryFetch.transactions()) }
}

extension NSPersistentHistoryChange {
    fileprivate var values: [String: Any] {
        [
            "changeID": changeID, "changeType": changeType.rawValue, "changedObjectID": changedObjectID,
            "transaction": transaction?.values ?? [:],
        ]
    }

    /// The entity of changes, with the attributes that a fetch of them may ask for.
    public class var entityDescription: NSEntityDescription? { HistoryFetch.changes() }
    /// The same.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }
    /// A fetch of changes, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate may use `changeID`,
    /// `changeType`, `changedObjectID` and, as in `transaction.author`, what one over transactions may.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .history(HistoryFetch.changes()) }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
    fileprivate static func history(_ entity: NSEntityDescription) -> NSFetchRequest {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}

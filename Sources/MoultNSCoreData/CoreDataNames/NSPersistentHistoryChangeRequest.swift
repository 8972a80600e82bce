import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// The kind of result of a history request, with Core Data's numbers.
public enum NSPersistentHistoryResultType: Int, Sendable {
    case statusOnly = 0
    case objectIDs
    case count
    case transactionsOnly
    case changesOnly
    case transactionsAndChanges
}

/// A request to fetch or delete the persistent history of a coordinator's stores.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The kind of ``NSPersistentHistoryResult/result``.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The history token with which the request was created.
    public let token: NSPersistentHistoryToken?
    /// The fetch that selects transactions or changes; nil for all. It fetches ``NSPersistentHistoryTransaction`` or
    /// ``NSPersistentHistoryChange``, with a predicate and a limit. Results are in the order of the saves.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
    private let bound: Bound

    private enum Bound {
        case after(Double?)
        case afterToken
        case before(Double?)
        case beforeToken
    }

    private var deletes: Bool {
        switch bound {
        case .before, .beforeToken: true
        case .after, .afterToken: false
        }
    }

    private init(_ bound: Bound, _ token: NSPersistentHistoryToken? = nil) {
        self.bound = bound
        self.token = token
    }

    /// Creates a request for the history after a date.
    open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.after(date.timeIntervalSinceReferenceDate))
    }
    /// Creates a request for the history after a token, or for all history if `token` is nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.afterToken, token)
    }
    /// Creates a request for the history after a transaction, or for all history if `transaction` is nil.
    open class func fetchHistory(
        after transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest { NSPersistentHistoryChangeRequest(.afterToken, transaction?.token) }
    /// Creates a request for the transactions or changes in all history that match a fetch.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentHistoryChangeRequest {
        let request = NSPersistentHistoryChangeRequest(.afterToken)
        request.fetchRequest = fetchRequest
        return request
    }
    /// Creates a request to delete the history before a date.
    open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.before(date.timeIntervalSinceReferenceDate))
    }
    /// Creates a request to delete the history before the transaction of a token, which is kept; nothing if `token` is
    /// nil.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.beforeToken, token)
    }
    /// Creates a request to delete the history before a transaction; nothing if `transaction` is nil.
    open class func deleteHistory(
        before transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest { NSPersistentHistoryChangeRequest(.beforeToken, transaction?.token) }

    /// Returns an independent request with the same properties.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentHistoryChangeRequest(bound, token).affecting(storesOf: self)
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest?.copyOfRequest()
        return copy
    }

    func run(in context: NSManagedObjectContext) throws -> NSPersistentHistoryResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw MigrationError(
                .usage, "The context has no coordinator.", remedy: "Set persistentStoreCoordinator first.")
        }
        // A deletion that ignored the fetch would delete too much.
        if let fetchRequest, deletes {
            throw MigrationError(
                .usage, "History is deleted up to a position, not by a fetch of \(fetchRequest.entityName ?? "").",
                place: "NSPersistentHistoryChangeRequest.fetchRequest",
                remedy: "Remove fetchRequest, or fetch the transactions and delete before one of them.")
        }
        let inside = try fetchRequest?.storeIdentifiers(in: coordinator)
        let affected = try storeIdentifiers(in: coordinator, within: inside)
        return try context.base.withLock { _ in
            var found: [NSPersistentHistoryTransaction] = []
            for store in try coordinator.base.objects.usableStores()
            where affected?.contains(store.identifier) ?? true {
                let number = token?.numbers[store.identifier.uuidString]
                switch bound {
                case .after(let moment):
                    let wanted = moment.map { $0.nextUp...Double.greatestFiniteMagnitude }
                    found += try store.historyRecords(timestamps: wanted).map { .init($0, store.identifier) }
                case .afterToken:
                    if let number { try store.checkHistoryToken(number) }
                    found += try store.historyRecords(after: number ?? 0).map { .init($0, store.identifier) }
                case .before(let moment):
                    let wanted = moment.map { -Double.greatestFiniteMagnitude...$0.nextDown }
                    try store.deleteHistory(try store.historyRecords(timestamps: wanted).map(\.number))
                case .beforeToken:
                    guard let number else { continue }
                    try store.deleteHistory(try store.historyRecords(through: number - 1).map(\.number))
                }
            }
            switch bound {
            case .before, .beforeToken: return NSPersistentHistoryResult(.statusOnly, true)
            case .after, .afterToken:
                if let fetchRequest { found = try HistoryFetch(fetchRequest).results(found) }
                return NSPersistentHistoryResult(resultType, result(found))
            }
        }
    }

    private func result(_ found: [NSPersistentHistoryTransaction]) -> Any {
        let changes = found.flatMap { $0.changes ?? [] }
        switch resultType {
        case .statusOnly: return true
        case .objectIDs: return changes.map(\.changedObjectID)
        case .count: return changes.count
        case .transactionsOnly: return found.map { $0.withoutChanges() }
        case .changesOnly: return changes
        case .transactionsAndChanges: return found
        }
    }
}

/// The result of a history request.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The requested kind of result.
    public let resultType: NSPersistentHistoryResultType
    /// Transactions, changes, identities, a count, or `true`.
    public let result: Any?

    init(_ type: NSPersistentHistoryResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}

/// A fetch of transactions or changes from history.
struct HistoryFetch {
    private let kind: Kind
    private let condition: (predicate: MoultModel.Predicate, variables: [String: ExpressionValue])?
    private let limit: Int

    /// The kind of record to fetch, with the keys for predicates. The raw values are the names of Core Data's entities.
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

        /// The key paths allowed in a predicate.
        var keyPaths: [String] {
            let own = keys.map(\.key)
            return self == .change ? own + Kind.transaction.keys.map { "transaction.\($0.key)" } : own
        }
    }

    /// - Throws: `fetchUnsupported` for another entity, a predicate with other keys, or sort descriptors.
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

    /// Returns the matching transactions. A fetch of changes returns the transactions that have matching changes, with
    /// only those changes.
    ///
    /// - Throws: an error of the predicate, such as one for values that cannot be compared.
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

    /// The entity of transactions, with the attributes available to a fetch.
    public class var entityDescription: NSEntityDescription? { HistoryFetch.transactions() }
    /// Returns the entity of transactions, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }
    /// A fetch request for transactions, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate may use
    /// `author`, `bundleID`, `contextName`, `processID`, `storeID`, `timestamp` and `transactionNumber`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .history(HistoryFetch.transactions()) }
}

extension NSPersistentHistoryChange {
    fileprivate var values: [String: Any] {
        [
            "changeID": changeID, "changeType": changeType.rawValue, "changedObjectID": changedObjectID,
            "transaction": transaction?.values ?? [:],
        ]
    }

    /// The entity of changes, with the attributes available to a fetch.
    public class var entityDescription: NSEntityDescription? { HistoryFetch.changes() }
    /// Returns the entity of changes, whatever the context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }
    /// A fetch request for changes, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate may use
    /// `changeID`, `changeType`, `changedObjectID` and, with a prefix as in `transaction.author`, the keys of
    /// transactions.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { .history(HistoryFetch.changes()) }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
    fileprivate static func history(_ entity: NSEntityDescription) -> NSFetchRequest {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}

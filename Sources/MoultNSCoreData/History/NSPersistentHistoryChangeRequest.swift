import Foundation
import MoultBasics
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

/// Asks for the persistent history of a coordinator's stores, or deletes some of it.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The kind of ``NSPersistentHistoryResult/result``.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The position that the request was made with.
    public let token: NSPersistentHistoryToken?
    /// The fetch that selects transactions or changes; nil for all. It is a fetch of ``NSPersistentHistoryTransaction``
    /// or of ``NSPersistentHistoryChange``, with a predicate and a limit. The order is that of the saves.
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

    /// Asks for what was saved after a moment.
    open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.after(date.timeIntervalSinceReferenceDate))
    }
    /// Asks for what was saved after a position; for everything after nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.afterToken, token)
    }
    /// Asks for what was saved after a transaction; for everything after nil.
    open class func fetchHistory(
        after transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest { NSPersistentHistoryChangeRequest(.afterToken, transaction?.token) }
    /// Asks for the transactions or changes that a fetch finds, of everything that was saved.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentHistoryChangeRequest {
        let request = NSPersistentHistoryChangeRequest(.afterToken)
        request.fetchRequest = fetchRequest
        return request
    }
    /// Deletes what was saved before a moment.
    open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.before(date.timeIntervalSinceReferenceDate))
    }
    /// Deletes what was saved up to a position, which stays; nothing for nil.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.beforeToken, token)
    }
    /// Deletes what was saved before a transaction; nothing for nil.
    open class func deleteHistory(
        before transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest { NSPersistentHistoryChangeRequest(.beforeToken, transaction?.token) }

    func run(in context: NSManagedObjectContext) throws -> NSPersistentHistoryResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw MigrationError(
                .usage, "The context has no coordinator.", remedy: "Set persistentStoreCoordinator first.")
        }
        // A deletion that ignored the fetch would delete more than was asked for.
        if let fetchRequest, deletes {
            throw MigrationError(
                .usage, "History is deleted up to a position, not by a fetch of \(fetchRequest.entityName ?? "").",
                place: "NSPersistentHistoryChangeRequest.fetchRequest",
                remedy: "Remove fetchRequest, or fetch the transactions and delete before one of them.")
        }
        return try context.base.inTurn { _ in
            var found: [NSPersistentHistoryTransaction] = []
            for store in try coordinator.base.objects.usableStores() {
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
    /// The kind of result that was asked for.
    public let resultType: NSPersistentHistoryResultType
    /// Transactions, changes, identities, a number, or `true`.
    public let result: Any?

    init(_ type: NSPersistentHistoryResultType, _ result: Any?) {
        resultType = type
        self.result = result
    }
}

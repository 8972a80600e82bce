import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ModelContext {
    /// Returns the saves that a descriptor matches, from all stores of the container and by any author.
    ///
    /// A ``DataStore`` that is ``HistoryProviding`` returns transactions of its own type.
    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` for a transaction type other than
    ///   ``DefaultHistoryTransaction``; ``SwiftDataError/historyTokenExpired`` if history after a token has been
    ///   deleted; what the predicate throws.
    public func fetchHistory<Transaction: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<Transaction>
    ) throws -> [Transaction] {
        let custom = try objects.perform {
            try graph.stack.customStores.compactMap { try $0.history(descriptor) }
        }
        if Transaction.self != DefaultHistoryTransaction.self, !custom.isEmpty { return custom.flatMap(\.self) }
        var found: [Transaction] = custom.flatMap(\.self)
        let limit = descriptor.sortBy.isEmpty && descriptor.fetchLimit > 0 ? descriptor.fetchLimit : .max
        let wanted = WantedHistory(descriptor.predicate?.expression)
        for transaction in try HistoryReading(graph).transactions(wanted) {
            guard found.count < limit else { break }
            guard let transaction = transaction as? Transaction else { throw SwiftDataError.other(Transaction.self) }
            if try descriptor.predicate?.evaluate(transaction) ?? true { found.append(transaction) }
        }
        guard !descriptor.sortBy.isEmpty else { return found }
        found.sort(using: descriptor.sortBy)
        return descriptor.fetchLimit > 0 ? Array(found.prefix(Int(clamping: descriptor.fetchLimit))) : found
    }

    /// Deletes the saves that a descriptor matches from the history; the saved data stays.
    public func deleteHistory<Transaction: HistoryTransaction>(_ descriptor: HistoryDescriptor<Transaction>) throws {
        let isDone = try objects.perform {
            try graph.stack.customStores.map { try $0.deleteHistory(descriptor) }.contains(true)
        }
        if isDone, Transaction.self != DefaultHistoryTransaction.self { return }
        let doomed = try fetchHistory(descriptor).compactMap { $0 as? DefaultHistoryTransaction }
        let byStore = Dictionary(grouping: doomed, by: \.storeIdentifier)
        try SwiftDataError.translating {
            try objects.perform {
                for store in try graph.stack.coordinator.usableStores() {
                    try store.deleteHistory((byStore[store.identifier.uuidString] ?? []).map(\.transactionIdentifier))
                }
            }
        }
    }
}

extension SwiftDataError {
    fileprivate static func other(_ type: Any.Type) -> SwiftDataError {
        SwiftDataError(
            .invalidTransactionFetchRequest, "\(type) is not a transaction of these stores.", place: "\(type)",
            remedy: "Ask for DefaultHistoryTransaction.")
    }
}

/// Makes transactions from the stores' history tables.
private struct HistoryReading {
    let graph: ContextStorage

    init(_ graph: ContextStorage) { self.graph = graph }

    /// Returns the transactions that may match, in the order of their saves.
    func transactions(_ wanted: WantedHistory) throws -> [DefaultHistoryTransaction] {
        let stores = try graph.stack.coordinator.usableStores()
        try checkOrigin(wanted, Set(stores.map(\.identifier.uuidString)))
        let records = try SwiftDataError.translating {
            try graph.objects.perform {
                try stores.map { store in
                    try checkExpiry(wanted, store)
                    return (store.identifier.uuidString, try wantedRecords(wanted, store, isOnly: stores.count == 1))
                }
            }
        }
        var all = records.flatMap { store, records in records.map { (store: store, record: $0) } }
        if records.count > 1 { all.sort { $0.record.timestamp < $1.record.timestamp } }
        var numbers: [String: Int64] = [:]
        return all.map { store, record in
            numbers[store] = record.number
            return transaction(record, store, DefaultHistoryToken(numbers))
        }
    }

    /// Returns the records of a store. A token for several stores needs the transactions of all of them.
    private func wantedRecords(_ wanted: WantedHistory, _ store: ObjectStore, isOnly: Bool) throws -> [HistoryRecord] {
        guard isOnly else { return try store.historyRecords() }
        return try store.historyRecords(
            after: wanted.after(in: store.identifier.uuidString),
            through: wanted.last(in: store.identifier.uuidString), timestamps: wanted.timestamps)
    }

    /// Throws if a token names none of the stores: it belongs to a deleted store, or to another one.
    private func checkOrigin(_ wanted: WantedHistory, _ stores: Set<String>) throws {
        let origins = wanted.tokensBefore.compactMap { $0.tokenValue.map { Set($0.keys) } }.filter { !$0.isEmpty }
        guard !stores.isEmpty, origins.contains(where: stores.isDisjoint) else { return }
        throw SwiftDataError(
            .historyTokenExpired, "The token is not one of these stores.", place: "DefaultHistoryToken",
            remedy: "Read the models again, then use the token of the last transaction.")
    }

    private func checkExpiry(_ wanted: WantedHistory, _ store: ObjectStore) throws {
        for number in wanted.tokensBefore.compactMap({ $0.tokenValue?[store.identifier.uuidString] }) {
            do {
                try store.checkHistoryToken(number)
            } catch let error as MigrationError where error.code == .historyTokenExpired {
                throw SwiftDataError(
                    .historyTokenExpired, error.message, place: error.place,
                    remedy: "Read the models again, then use the token of the last transaction.")
            }
        }
    }

    private func transaction(
        _ record: HistoryRecord, _ store: String, _ token: DefaultHistoryToken
    ) -> DefaultHistoryTransaction {
        DefaultHistoryTransaction(
            author: record.author, bundleIdentifier: record.bundleIdentifier ?? "",
            processIdentifier: record.processName ?? "",
            changes: record.changes.compactMap { change in
                guard let binding = try? graph.stack.binding(change.object.entityName) else { return nil }
                return self.change(change, record.number, binding, binding.type)
            },
            storeIdentifier: store, timestamp: Date(timeIntervalSinceReferenceDate: record.timestamp), token: token,
            transactionIdentifier: record.number)
    }

    private func change<Model: PersistentModel>(
        _ change: HistoryRecord.Change, _ transaction: Int64, _ binding: ModelClassInfo, _ type: Model.Type
    ) -> HistoryChange {
        let id = PersistentIdentifier(change.object)
        switch change.kind {
        case .insert:
            return .insert(
                DefaultHistoryInsert<Model>(
                    changeIdentifier: change.number, changedPersistentIdentifier: id,
                    transactionIdentifier: transaction))
        case .update:
            let paths = change.properties.compactMap { binding.keyPathsByName[$0] as? PartialKeyPath<Model> }.unique()
            return .update(
                DefaultHistoryUpdate<Model>(
                    changeIdentifier: change.number, changedPersistentIdentifier: id,
                    transactionIdentifier: transaction, updatedAttributes: paths))
        case .delete:
            return .delete(
                DefaultHistoryDelete<Model>(
                    changeIdentifier: change.number, changedPersistentIdentifier: id,
                    transactionIdentifier: transaction, tombstone: tombstone(change, id, binding)))
        }
    }

    private func tombstone<Model: PersistentModel>(
        _ change: HistoryRecord.Change, _ id: PersistentIdentifier, _ binding: ModelClassInfo
    ) -> HistoryTombstone<Model> {
        let backing = MissingBackingData(id, change.tombstone)
        var values: [AnyKeyPath: Any] = [:]
        for case let property? in binding.properties {
            guard property.isWhole(in: change.tombstone, backing) else { continue }
            values[property.keyPath] = property.read(property.name, backing)
        }
        return HistoryTombstone(values: values)
    }
}

extension Schema.PropertyMetadata {
    /// Returns whether the tombstone has a complete value of the property.
    func isWhole(in tombstone: [String: AttributeValue], _ backing: any BackingData) -> Bool {
        guard paths.contains(where: { tombstone[$0] != nil }) else { return false }
        return readsColumnsTogether
            ? canReadColumns(backing) : paths.first.flatMap { tombstone[$0] }.map(canRead) ?? false
    }
}

/// The part of the history that a predicate can match, according to the bounds in its terms joined by `&&`.
struct WantedHistory {
    /// The tokens at or after which transactions may match.
    private(set) var tokensBefore: [DefaultHistoryToken] = []
    private var tokensBehind: [DefaultHistoryToken] = []
    private var first = Int64.min
    private var last = Int64.max
    private var since = -Double.infinity
    private var until = Double.infinity

    init(_ expression: (any PredicateExpression)?) { (expression as? any HistoryCondition)?.narrow(&self) }

    /// Returns a transaction number in a store. Only later transactions can match.
    func after(in store: String) -> Int64 {
        let number = tokensBefore.reduce(first) { max($0, $1.tokenValue?[store] ?? 0) }
        return number > 0 ? number - 1 : 0
    }

    /// Returns a transaction number in a store. Only this transaction and earlier ones can match.
    func last(in store: String) -> Int64 { (tokensBehind.compactMap { $0.tokenValue?[store] } + [last]).min() ?? last }

    /// The range in seconds since 2001-01-01 00:00:00 UTC, both ends included; nil for no restriction.
    var timestamps: ClosedRange<Double>? {
        guard since > -.infinity || until < .infinity else { return nil }
        return since <= until ? since...until : since...since
    }

    /// Applies the bound `path operator bound`.
    fileprivate mutating func take(_ path: AnyKeyPath, _ bound: Any, isLower: Bool) {
        switch (path, bound) {
        case (\DefaultHistoryTransaction.token, let token as DefaultHistoryToken):
            if isLower { tokensBefore.append(token) } else { tokensBehind.append(token) }
        case (\DefaultHistoryTransaction.transactionIdentifier, let number as Int64):
            if isLower { first = max(first, number) } else { last = min(last, number) }
        case (\DefaultHistoryTransaction.timestamp, let date as Date):
            let seconds = date.timeIntervalSinceReferenceDate
            if isLower { since = max(since, seconds) } else { until = min(until, seconds) }
        default: break
        }
    }
}

/// A part of a predicate that sets bounds on transactions.
private protocol HistoryCondition {
    func narrow(_ wanted: inout WantedHistory)
}

extension PredicateExpressions.Conjunction: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        (lhs as? any HistoryCondition)?.narrow(&wanted)
        (rhs as? any HistoryCondition)?.narrow(&wanted)
    }
}

extension PredicateExpressions.Comparison: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        let isGreater = op == .greaterThan || op == .greaterThanOrEqual
        if let path = (lhs as? any HistoryProperty)?.path, let bound = (rhs as? any HistoryBound)?.known {
            wanted.take(path, bound, isLower: isGreater)
        } else if let path = (rhs as? any HistoryProperty)?.path, let bound = (lhs as? any HistoryBound)?.known {
            wanted.take(path, bound, isLower: !isGreater)
        }
    }
}

extension PredicateExpressions.Equal: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        // A comparison with an equal token sets no bound: it does not mean that the history up to the token has been
        // read.
        guard let path = (lhs as? any HistoryProperty)?.path, let bound = (rhs as? any HistoryBound)?.known,
            !(bound is DefaultHistoryToken)
        else { return }
        wanted.take(path, bound, isLower: true)
        wanted.take(path, bound, isLower: false)
    }
}

private protocol HistoryProperty {
    var path: AnyKeyPath? { get }
}

extension PredicateExpressions.KeyPath: HistoryProperty {
    fileprivate var path: AnyKeyPath? { root is PredicateExpressions.Variable<Root.Output> ? keyPath : nil }
}

private protocol HistoryBound {
    var known: Any { get }
}

extension PredicateExpressions.Value: HistoryBound {
    fileprivate var known: Any { value }
}

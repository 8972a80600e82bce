import Foundation
import MoultBasics
import Observation
import Synchronization

/// Counts what is saved into the stores of a container: their history's new transactions.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
///     withObservationTracking { _ = observer.eventCounter } onChange: { … }
///
/// The history is read after each save of a context of the container, on the thread of that save. Transactions that
/// another process has written in the meantime are found then too, but do not cause a reading themselves.
public final class HistoryObserver: Observable, @unchecked Sendable {
    /// The container whose stores are observed.
    public let modelContainer: ModelContainer
    /// The models whose changes count; empty for those of all.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose transactions count; empty for those of all.
    public let authors: Set<String>
    private let names: Set<String>
    private let registrar = ObservationRegistrar()
    private let state: Mutex<State>
    /// Taken before the lock of the stores, and for nothing that a reader of the counter waits for.
    private let reading = RecursiveLock()
    /// Used while reading only.
    private let context: ModelContext
    private var saves: Int?

    private struct State {
        var numbers: [String: Int64]
        var events = 0
    }

    /// - Parameters:
    ///   - historyTokens: what was read before, by the identifiers of the stores; nil for all that is there now.
    ///   - observedModels: the models whose changes count; empty for those of all.
    ///   - authors: the authors whose transactions count; empty for those of all.
    /// - Throws: ``SwiftDataError/historyTokenExpired`` where what came after a token has been forgotten in part;
    ///   ``SwiftDataError/unknownSchema`` for a model that the container does not have.
    public init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        (self.modelContainer, self.observedModels, self.authors) = (modelContainer, observedModels, authors)
        names = Set(try observedModels.map { try modelContainer.stack.binding($0).entityName })
        context = ModelContext(modelContainer)
        let numbers: [String: Int64] = try modelContainer.coordinator.usableStores().reduce(into: [:]) {
            numbers, store in
            let identifier = store.identifier.uuidString
            if let historyTokens {
                numbers[identifier] = (historyTokens[identifier] as? DefaultHistoryToken)?.tokenValue?[identifier] ?? 0
            } else {
                numbers[identifier] = try store.lastTransaction()
            }
        }
        state = Mutex(State(numbers: numbers))
        if historyTokens != nil, try readNew() { state.withLock { $0.events = 1 } }
        saves = modelContainer.coordinator.observeSaves { [weak self] _ in self?.noteSave() }
    }

    deinit { if let saves { modelContainer.coordinator.stopObserving(saves) } }

    /// The number of times that saves have brought transactions that count.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.events }
    }

    /// The position in the history of each store up to which it has been read, by the identifiers of the stores.
    public var historyTokens: [String: any HistoryToken] {
        state.withLock(\.numbers).reduce(into: [:]) { $0[$1.key] = DefaultHistoryToken([$1.key: $1.value]) }
    }

    private func noteSave() {
        // What cannot be read now is read after the next save.
        guard (try? readNew()) == true else { return }
        registrar.withMutation(of: self, keyPath: \.eventCounter) { state.withLock { $0.events += 1 } }
    }

    /// Reads on, and says whether there was anything that counts.
    private func readNew() throws -> Bool {
        let new = try reading.withLock {
            let token = DefaultHistoryToken(state.withLock(\.numbers))
            let new = try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
            state.withLock { state in
                for transaction in new {
                    let number = max(state.numbers[transaction.storeIdentifier] ?? 0, transaction.transactionIdentifier)
                    state.numbers[transaction.storeIdentifier] = number
                }
            }
            return new
        }
        return new.contains { transaction in
            (authors.isEmpty || transaction.author.map(authors.contains) == true)
                && (names.isEmpty
                    || transaction.changes.contains { names.contains($0.changedPersistentIdentifier.entityName) })
        }
    }
}

import Foundation
import MoultBasics
import Observation
import Synchronization

/// An observer that counts saves to the stores of a container, by the new transactions in their history.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
///     withObservationTracking { _ = observer.eventCounter } onChange: { … }
///
/// The observer reads the history after each save of a context of the container, on the thread of that save. It then
/// also finds transactions of other processes, but those do not trigger a read themselves.
public final class HistoryObserver: Observable, @unchecked Sendable {
    /// The container whose stores are observed.
    public let modelContainer: ModelContainer
    /// The models whose changes count; empty for all models.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose transactions count; empty for all authors.
    public let authors: Set<String>
    private let names: Set<String>
    private let registrar = ObservationRegistrar()
    private let state: Mutex<State>
    /// A lock taken before the lock of the stores. Readers of the counter never wait for it.
    private let reading = RecursiveLock()
    /// A context that is used only for reading the history.
    private let context: ModelContext
    private var saves: Int?

    private struct State {
        var numbers: [String: Int64]
        var events = 0
    }

    /// - Parameters:
    ///   - historyTokens: the positions read so far, by the identifiers of the stores; nil to start at the end of the
    ///     history.
    ///   - observedModels: the models whose changes count; empty for all models.
    ///   - authors: the authors whose transactions count; empty for all authors.
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if history after a token has been deleted;
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

    /// The number of saves that added matching transactions.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.events }
    }

    /// The position up to which each store's history has been read, by the identifiers of the stores.
    public var historyTokens: [String: any HistoryToken] {
        state.withLock(\.numbers).reduce(into: [:]) { $0[$1.key] = DefaultHistoryToken([$1.key: $1.value]) }
    }

    private func noteSave() {
        // If reading fails now, it is repeated after the next save.
        guard (try? readNew()) == true else { return }
        registrar.withMutation(of: self, keyPath: \.eventCounter) { state.withLock { $0.events += 1 } }
    }

    /// Reads the new transactions; returns whether any of them matches.
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

import Foundation
import MoultBasics
import MoultObjects
import Synchronization

/// One open store of a coordinator: `NSPersistentStore`.
public final class PersistentStore: @unchecked Sendable {
    /// The type of a store: the place where its objects are stored.
    public enum StoreType: String, Sendable, Hashable {
        /// A SQLite file, with its side files.
        case sqlite = "SQLite"
        /// In memory, for the lifetime of the store.
        case inMemory = "InMemory"
    }

    /// The store's file; nil for a store in memory.
    public let url: URL?
    /// Whether the objects are in a file or in memory.
    public let type: StoreType
    /// The configuration of the model whose entities the store holds; nil for all of them.
    public let configurationName: String?
    /// `NSStoreUUID`
    public let identifier: UUID
    /// Whether the store was opened read-only. Saving to it throws `readOnly`.
    public let isReadOnly: Bool
    let options: StoreOptions
    /// The engine's store; use it only under the coordinator's lock.
    package var store: ObjectStore { state.withLock { $0 }.store }
    private let state: Mutex<State>

    private struct State: @unchecked Sendable {
        var store: ObjectStore
        var entry: OpenStoreRegistry.Entry?
        /// The coordinator of a suspended store.
        var suspended: ObjectCoordinator?
        var isDiscarded = false
    }

    init(_ store: ObjectStore, url: URL?, type: StoreType, configuration: String?, options: StoreOptions) {
        self.url = url
        self.type = type
        configurationName = configuration
        identifier = store.identifier
        isReadOnly = store.isReadOnly
        self.options = options
        state = Mutex(State(store: store))
        register()
    }

    private func register() {
        let path = store.path
        if !path.isEmpty { state.withLock { $0.entry = OpenStoreRegistry.Entry(path, self) } }
    }

    /// Whether the store can be closed without losing changes; false while it is being opened.
    package var canRetire: Bool { store.coordinator?.canRetire(store) ?? false }

    /// Closes the store, so that this process can migrate it.
    ///
    /// - Returns: false if unsaved changes would be lost; the store then stays open.
    package func retire() -> Bool {
        guard let coordinator = store.coordinator, coordinator.retire(store) else { return false }
        state.withLock { $0.entry = nil }
        return true
    }

    package func close() {
        store.close()
        state.withLock { $0.entry = nil }
    }
}

extension PersistentStore: OpenStoreRegistry.Member {
    /// Whether the contents were destroyed or replaced, so that the coordinator no longer has the store.
    var isDiscarded: Bool { state.withLock { $0.isDiscarded } }

    package func suspend() throws {
        let store = self.store
        guard let coordinator = store.coordinator, coordinator.suspend(store) else {
            throw MigrationError(
                .usage, "The store is being opened or changed in this process.", place: store.path,
                remedy: "Destroy or replace it afterwards.")
        }
        state.withLock { ($0.entry, $0.suspended) = (nil, coordinator) }
    }

    package func resume() throws {
        guard let coordinator = state.withLock({ $0 }).suspended else { return }
        let before = store.schemaVersion
        // The copying of pages changes the version, so an error after it is known.
        try reopen(in: coordinator) { if $0.schemaVersion != before { coordinator.noteReplacement(of: identifier) } }
        state.withLock { $0.suspended = nil }
    }

    package func discard() {
        let coordinator = state.withLock { state in
            defer { (state.suspended, state.isDiscarded) = (nil, true) }
            return state.suspended
        }
        coordinator?.noteReplacement(of: identifier)
    }

    /// Opens the file again, and adds it to a coordinator that had it before.
    ///
    /// - Parameter willAdd: called with the opened store before it is added.
    func reopen(in coordinator: ObjectCoordinator, willAdd: (ObjectStore) -> Void = { _ in }) throws {
        guard let url else { return }
        let opened = try ObjectStore(
            url.path, model: coordinator.model, configuration: configurationName, isReadOnly: isReadOnly,
            busyTimeout: options.busyTimeout)
        guard opened.identifier == identifier else {
            throw MigrationError(
                .storeUnknown, "Another store is at the path now.", place: url.path,
                remedy: "Add it to the coordinator.")
        }
        try opened.configure(options)
        willAdd(opened)
        try coordinator.add(opened)
        state.withLock { $0.store = opened }
        register()
    }
}

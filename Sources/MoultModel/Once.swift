import Synchronization

/// A value that is computed when it is first needed, and that all copies of its owner share. It must follow from the
/// owner, so that equal owners have equal ones.
package final class Once<Value: Sendable>: Sendable, Equatable {
    private let known = Mutex<Value?>(nil)

    package init() {}

    package static func == (one: Once, other: Once) -> Bool { true }

    package func value(_ compute: () -> Value) -> Value {
        known.withLock { known in
            if let known { return known }
            let computed = compute()
            known = computed
            return computed
        }
    }
}

/// The same for several values, each known by a key. Computing one may ask for others.
package final class OnceEach<Key: Hashable & Sendable, Value: Sendable>: Sendable, Equatable {
    private let known = Mutex<[Key: Value]>([:])

    package init() {}

    package static func == (one: OnceEach, other: OnceEach) -> Bool { true }

    package func value<Failure: Error>(_ key: Key, _ compute: () throws(Failure) -> Value) throws(Failure) -> Value {
        if let value = known.withLock({ $0[key] }) { return value }
        let value = try compute()
        known.withLock { $0[key] = value }
        return value
    }
}

import Synchronization

#if !canImport(ObjectiveC)
    import CSwiftRuntime
#endif

/// A large value that all copies of its owner share, so that the owner is one word: copying a struct of many strings and
/// arrays costs code and time for each of them, at every place that copies it.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}

extension Shared: Equatable where Value: Equatable {
    package static func == (one: Shared, other: Shared) -> Bool { one === other || one.value == other.value }
}

/// A value that is computed on first use and shared by all copies of its owner. It must depend on nothing but the
/// owner, so that equal owners have equal values.
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

/// Several such values, each under a key. Computing one value may request others.
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

/// A lock that the thread that holds it may acquire again.
package final class RecursiveLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Runs `body`, or returns nil if another thread holds the lock.
    package func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

/// A weak reference for objects that are numerous or in constant use.
///
/// The first `weak var` that refers to an object gives it a side table: another block of memory, through which every
/// later retain and release of the object goes, several times slower. This type uses an `unowned` reference, which
/// needs no side table, yet returns nil if the object is gone. The memory of the object itself, but not of anything
/// that it refers to, stays allocated until the last such reference is gone.
package struct WeakReference<Object: AnyObject> {
    #if canImport(ObjectiveC)
        // On these platforms an object may be an Objective-C object, whose references are counted in another way.
        package private(set) weak var object: Object?
    #else
        private unowned let target: Object

        package var object: Object? {
            // Keep this reference, and with it the memory, until the object is retained.
            defer { _fixLifetime(self) }
            let address = unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
            guard let found = moult_retain_if_alive(address) else { return nil }
            return Unmanaged<Object>.fromOpaque(found).takeRetainedValue()
        }
    #endif

    package init(_ object: Object) {
        #if canImport(ObjectiveC)
            self.object = object
        #else
            target = object
        #endif
    }
}

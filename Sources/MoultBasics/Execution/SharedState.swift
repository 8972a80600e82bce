import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

#if !canImport(ObjectiveC)
    import CSwiftRuntime
#endif

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

/// A mutual exclusion that the thread that holds it may take again.
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
}

/// A weak reference to an object of which there are many, or that is used all the time.
///
/// The first `weak var` that refers to an object gives it a side table: one more block of memory, through which each
/// later retain and release of the object goes, several times slower. This is an `unowned` reference, which needs none;
/// but asking it for an object that is gone gives nil. The memory of the object itself, though nothing that it referred
/// to, is freed when the last such reference goes.
package struct WeakReference<Object: AnyObject> {
    #if canImport(ObjectiveC)
        // There an object may be one of Objective-C, whose references are counted otherwise.
        package private(set) weak var object: Object?
    #else
        private unowned let target: Object

        package var object: Object? {
            // The memory stays until the object is retained.
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

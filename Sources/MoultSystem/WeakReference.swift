#if !canImport(ObjectiveC)
    import CSwiftRuntime
#endif

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

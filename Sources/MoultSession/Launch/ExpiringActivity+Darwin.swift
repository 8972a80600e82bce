import Dispatch

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    import Foundation
#endif

/// Time in the background, which the system gives an app that asks for it, and takes back.
///
/// Without it a suspended app keeps its locks, and is ended if one of them is in a shared container. Elsewhere than on
/// Apple's devices it does nothing.
struct ExpiringActivity {
    private let isOver = DispatchSemaphore(value: 0)

    /// - Parameter onExpiry: ends the work soon.
    init(_ onExpiry: @escaping @Sendable () -> Void) {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Migrating a store") { [isOver] isExpired in
                if isExpired { onExpiry() }
                // The time lasts until both calls have returned.
                isOver.wait()
                isOver.signal()
            }
        #endif
    }

    func end() { isOver.signal() }
}

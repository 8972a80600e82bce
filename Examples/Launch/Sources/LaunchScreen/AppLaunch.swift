import Moult
import Observation

/// What an app shows while it prepares its store, and what the buttons of that screen do.
@MainActor
@Observable
public final class AppLaunch {
    /// A screen before the app itself.
    public enum Screen: Equatable {
        /// The store is being prepared; ``AppLaunch/progress`` tells how far it is.
        case working
        /// The migration would lose something. The sentences say what.
        case question([String])
        /// The device has not been unlocked since it was started.
        case locked
        /// Nothing can be done now. The store is as it was.
        case message(String, canGoBack: Bool)
        /// The store is ready: the app opens it.
        case open
    }

    /// The present screen.
    public private(set) var screen = Screen.working
    /// The progress of the preparation.
    public var progress: LaunchProgress { launch.progress }

    private let launch: StoreLaunch
    private var decision: StoreLaunch.Decision?

    /// Creates the screen of a launch.
    public init(_ launch: StoreLaunch) { self.launch = launch }

    /// Prepares the store, in as many calls as it takes. Call it when the app starts, when the protected data becomes
    /// available, and when a person wants to try again.
    public func begin() async { await follow { try await self.launch.prepare() } }

    /// Accepts what the question says.
    public func accept() async {
        guard let decision else { return }
        await follow { try await decision.accept() }
    }

    /// Makes one more attempt after too many have failed.
    public func tryAgain() async { await follow { try await self.launch.tryAgain() } }

    /// Restores the store as it was before its last migration. Only an earlier version of the app can open it.
    public func goBack() async {
        do {
            _ = try await launch.goBack()
            screen = .message("Your data is as it was before the update.", canGoBack: false)
        } catch {
            screen = .message("\(error)", canGoBack: false)
        }
    }

    private func follow(_ call: () async throws -> StoreLaunch.Outcome) async {
        screen = .working
        decision = nil
        do {
            var outcome = try await call()
            while case .unfinished = outcome, !Task.isCancelled { outcome = try await launch.prepare() }
            show(outcome)
        } catch {
            screen = .message("\(error)", canGoBack: false)
        }
    }

    private func show(_ outcome: StoreLaunch.Outcome) {
        switch outcome {
        case .ready: screen = .open
        case .unfinished: screen = .working
        case .needsDecision(let decision):
            self.decision = decision
            screen = .question(decision.sentences)
        case .unavailable(.protectedData): screen = .locked
        case .unavailable(.storeInUse):
            screen = .message("Another part of the app is using your data. Close it, then try again.", canGoBack: false)
        case .unavailable(.insufficientStorage(let missing, _)):
            let megabytes = max(1, (missing + 999_999) / 1_000_000)
            screen = .message("Free \(megabytes) MB on this device, then try again.", canGoBack: false)
        case .refused(let error):
            screen = .message(error.message, canGoBack: error.code == .tooManyAttempts)
        }
    }
}

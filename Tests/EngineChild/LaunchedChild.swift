import Dispatch
import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import Synchronization
import TestSupport

/// One call of an app's launch. It prints `begun`, and in the end the outcome with the seconds that the call took; after
/// a refusal also the code and the remedy.
enum LaunchedChild {
    /// - Parameters:
    ///   - word: a ``LaunchKind``; or for the stages `first`, the way to the second version only, `linger`, with code that
    ///     prints `lingers` and waits to be killed, `again`, one more attempt, or `back`, the backup.
    ///   - store: next to a file STORE.budget with the seconds of the call.
    static func run(_ word: String, _ store: String) throws {
        let kind = LaunchKind(rawValue: word) ?? .stages
        var versions = try kind.versions()
        var registry = try kind.registry()
        if word == "first" {
            versions = ModelVersions(versions: Array(versions.versions.prefix(2)))
            registry = MigrationRegistry()
        }
        if word == "linger" {
            registry.steps["copy"] = StepCode(execute: { _ in
                say("lingers")
                while true { sleep(1) }
            })
        }
        let budget = Double(try String(contentsOfFile: store + ".budget", encoding: .utf8)) ?? 0
        let launch = makeLaunch(store, .versions(versions, registry: registry), budget)
        say("begun")
        let system = POSIXSystem()
        let started = system.monotonicNanoseconds
        let told: String
        switch word {
        case "back":
            let reports = try waiting(for: { try await launch.goBack() })
            told = (["back"] + reports.map(\.restored.version)).joined(separator: "\n")
        case "again": told = words(for: try waiting(for: { try await launch.tryAgain() }))
        default: told = words(for: try waiting(for: { try await launch.prepare() }))
        }
        let lines = told.split(separator: "\n", maxSplits: 1)
        say("\(lines[0]) \(system.seconds(since: started))")
        for line in lines.dropFirst() { say(String(line)) }
    }

    private static func makeLaunch(_ store: String, _ models: StoreLaunch.Models, _ budget: Double) -> StoreLaunch {
        var launch = StoreLaunch(store: URL(fileURLWithPath: store), models: models)
        launch.budget = .seconds(budget)
        return launch
    }

    private static func words(for outcome: StoreLaunch.Outcome) -> String {
        switch outcome {
        case .ready: "ready"
        case .unfinished: "unfinished"
        case .needsDecision(let decision): "decision\n\(decision.sentences)"
        case .unavailable(let obstacle): "unavailable\n\(obstacle)"
        case .refused(let error): "refused\n\(error.code) \(error.message) \(error.remedy)"
        }
    }

    /// Waits for a call that the main thread of an app would await.
    private static func waiting<Value: Sendable>(
        for call: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let answer = Answer<Value>()
        Task.detached {
            do { answer.set(.success(try await call())) } catch { answer.set(.failure(error)) }
        }
        return try answer.get()
    }

    private final class Answer<Value: Sendable>: Sendable {
        private let isThere = DispatchSemaphore(value: 0)
        private let result = Mutex<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) {
            result.withLock { $0 = value }
            isThere.signal()
        }

        func get() throws -> Value {
            isThere.wait()
            return try result.withLock { $0 ?? .failure(CancellationError()) }.get()
        }
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

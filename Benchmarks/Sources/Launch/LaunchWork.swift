import Dispatch
import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import Synchronization

/// One call of an app's launch in a process of its own; prints one line of JSON.
enum LaunchWork {
    /// A migration that a launch does.
    enum Kind: String, CaseIterable {
        case rebuild, closure, policy, index

        var sentence: String {
            switch self {
            case .rebuild: "an inferred rebuild"
            case .closure: "a closure in Swift"
            case .policy: "a migration policy"
            case .index: "a new index"
            }
        }

        /// Whether its store is one of orders.
        var hasOrders: Bool { self == .closure || self == .policy }

        /// A query with the same result in the old store and the new one.
        var rows: String {
            hasOrders
                ? "SELECT count(*), sum(Z_PK), sum(ZQUANTITY), sum(length(ZNOTE)) FROM ZORDER"
                : "SELECT count(*), sum(Z_PK), sum(ZCOUNT), sum(length(ZTITLE)) FROM ZITEM"
        }

        func models() throws -> StoreLaunch.Models {
            var registry = MigrationRegistry()
            let target: ModelVersion
            switch self {
            case .rebuild, .index:
                let change = try BenchmarkModel.change(named: self == .rebuild ? "required" : "indexed")
                return .versions(change.versions)
            case .closure:
                target = try TransformModel.joined()
                registry.register(mapping: try TransformModel.joining(), from: "V1", to: "V2")
            case .policy:
                target = try TransformModel.split()
                registry.register(policy: { OrderPolicy() }, named: TransformModel.policy)
                registry.register(mapping: try TransformModel.splitting(), from: "V1", to: "V2")
            }
            return .versions(ModelVersions(versions: [try TransformModel.first(), target]), registry: registry)
        }
    }

    /// - Parameters:
    ///   - kind: a ``Kind``; or `current`, for 50 launches of a current store and as many times SQLite's own open and
    ///     first read, in turn, of which the medians are printed; or `current-log`, for the same beside the log of an app.
    ///   - last: the seconds of the call; or the compiled model of a current store.
    static func run(_ kind: String, _ store: String, _ last: String) throws {
        if kind.hasPrefix("current") { return try current(store, last, hasLog: kind == "current-log") }
        guard let kind = Kind(rawValue: kind), let budget = Double(last) else {
            throw MigrationError(.usage, "There is no kind \(kind).", remedy: "See LaunchWork.")
        }
        let begun = Clock.now
        var launch = StoreLaunch(store: URL(fileURLWithPath: store), models: try kind.models())
        launch.budget = .seconds(budget)
        let (result, message): (String, String)
        switch try outcome(of: launch) {
        case .ready: (result, message) = ("ready", "")
        case .unfinished: (result, message) = ("unfinished", "")
        case .refused(let error) where error.code == .budgetTooSmall: (result, message) = ("refused", error.message)
        case let other: throw failure("\(other)")
        }
        print(
            JSONValue.object([
                .init("result", .string(result)), .init("message", .string(message)),
                .init("seconds", .double(Clock.now - begun)), .init("peak", .integer(ChildWork.peakMemory)),
            ]).compact)
    }

    private static func current(_ store: String, _ bundle: String, hasLog: Bool) throws {
        var (ours, theirs) = ([Double](), [Double]())
        if hasLog { try leaveLog(beside: store) }
        for _ in 0..<50 {
            let begun = Clock.now
            let connection = try Connection(store, mode: .readWrite)
            try connection.keepWALOnClose(hasLog)
            _ = try connection.integer("SELECT count(*) FROM Z_METADATA")
            connection.close()
            let middle = Clock.now
            let launch = StoreLaunch(
                store: URL(fileURLWithPath: store), models: .bundle(URL(fileURLWithPath: bundle)))
            guard case .ready(let reports) = try outcome(of: launch), reports.isEmpty else {
                throw failure("The store is not current.")
            }
            ours.append(Clock.now - middle)
            theirs.append(middle - begun)
        }
        print(
            JSONValue.object([.init("moult", .double(ours.median)), .init("sqlite", .double(theirs.median))]).compact)
    }

    /// Writes to the store as an app that is killed then: what it wrote stays in the log.
    private static func leaveLog(beside store: String) throws {
        let connection = try Connection(store, mode: .readWrite)
        try connection.keepWALOnClose(true)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1; UPDATE Z_METADATA SET Z_UUID = Z_UUID
            """)
        connection.close()
    }

    private static func failure(_ message: String) -> MigrationError {
        MigrationError(.internal, message, remedy: "Look at the launch.")
    }

    /// Waits for the call that an app awaits.
    private static func outcome(of launch: StoreLaunch) throws -> StoreLaunch.Outcome {
        let (isThere, answer) = (DispatchSemaphore(value: 0), Answer())
        Task.detached {
            let result: Result<StoreLaunch.Outcome, any Error>
            do { result = .success(try await launch.prepare()) } catch { result = .failure(error) }
            answer.result.withLock { $0 = result }
            isThere.signal()
        }
        isThere.wait()
        guard let result = answer.result.withLock({ $0 }) else { throw failure("There is no answer.") }
        return try result.get()
    }

    private final class Answer: Sendable {
        let result = Mutex<Result<StoreLaunch.Outcome, any Error>?>(nil)
    }
}

import Dispatch

/// Runs work on a context, which nobody else uses in the meantime.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs one piece of work on a context after the other.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// Used by what this executor runs only.
    public let modelContext: ModelContext
    private let queue: DispatchQueue

    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        queue = DispatchQueue(label: "MoultData.DefaultSerialModelExecutor")
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// Runs the actors whose own executor is not a ``SerialModelExecutor`` and cannot promise one thing after the other.
private final class SharedSerialExecutor: SerialExecutor {
    static let shared = SharedSerialExecutor()

    private let queue = DispatchQueue(label: "MoultData.SharedSerialExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}

/// An actor with a context of its own. `@ModelActor` writes the conformance.
///
///     @ModelActor actor Importer {
///         func add(_ titles: [String]) throws {
///             for title in titles { modelContext.insert(Note(title: title)) }
///             try modelContext.save()
///         }
///     }
public protocol ModelActor: Actor {
    nonisolated var modelContainer: ModelContainer { get }
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        let executor = modelExecutor as? any SerialExecutor ?? SharedSerialExecutor.shared
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's own context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model of an identity in the actor's context; nil if there is none of this class.
    public subscript<Model: PersistentModel>(id: PersistentIdentifier, as type: Model.Type) -> Model? {
        modelContext.existingModel(for: id)
    }
}

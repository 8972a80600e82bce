import Dispatch

/// An executor that runs work on a context that nothing else uses meanwhile.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

/// An executor that runs one job at a time, so that it can be an actor's executor.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// An executor that runs work on a context, one job at a time.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// The context, used only by the jobs of this executor.
    public let modelContext: ModelContext
    private let queue: DispatchQueue

    /// Creates an executor for a context that nothing else uses.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        queue = DispatchQueue(label: "MoultData.DefaultSerialModelExecutor")
    }

    /// Runs a job on the executor's own queue, after the earlier ones.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// Returns this executor for an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// A serial executor for actors whose own executor is not a ``SerialModelExecutor``.
private final class SharedSerialExecutor: SerialExecutor {
    static let shared = SharedSerialExecutor()

    private let queue = DispatchQueue(label: "MoultData.SharedSerialExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}

/// An actor with a context of its own. Use `@ModelActor` to add the conformance.
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
    /// The actor's ``modelExecutor`` if it is serial; otherwise a shared serial executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        let executor = modelExecutor as? any SerialExecutor ?? SharedSerialExecutor.shared
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's own context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model with an identity in the actor's context; nil if there is none of this class.
    public subscript<Model: PersistentModel>(id: PersistentIdentifier, as type: Model.Type) -> Model? {
        modelContext.existingModel(for: id)
    }
}

/// Gives an actor a context of its own, and `init(modelContainer:)`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "MoultDataMacros", type: "ModelActorMacro")

/// The protocol under the name that `@ModelActor` uses, because the macro has the protocol's name.
public typealias _ModelActor = ModelActor

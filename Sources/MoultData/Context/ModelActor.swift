import Dispatch

/// Runs work on a context, which nobody else uses in the meantime.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

/// An executor that runs one piece of work after the other, so that it can be an actor's own.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs one piece of work on a context after the other.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// Used by what this executor runs only.
    public let modelContext: ModelContext
    private let queue: DispatchQueue

    /// An executor for a context that nothing else uses.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        queue = DispatchQueue(label: "MoultData.DefaultSerialModelExecutor")
    }

    /// Runs a piece of work on the executor's own queue, after those that came before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// This executor, as an actor's `unownedExecutor` names it.
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
    /// The actor's ``modelExecutor``, or a shared serial executor where that is not a serial one.
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

/// Gives an actor a context of its own, and `init(modelContainer:)`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "MoultDataMacros", type: "ModelActorMacro")

/// The protocol, as `@ModelActor` writes it: the macro has the same name.
public typealias _ModelActor = ModelActor

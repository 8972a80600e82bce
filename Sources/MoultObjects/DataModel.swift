/// A common interface to the objects of one class, for code that does not depend on the framework that keeps them: Core
/// Data's face and SwiftData's each have one, so that an app can move from the one to the other behind it.
///
///     func titles(in model: some DataModel<Note>) throws -> [String] {
///         let context = model.createContext()
///         return try model.fetch(model.all, in: context).map(\.title)
///     }
public protocol DataModel<Record> {
    /// The class of the objects.
    associatedtype Record
    /// The context in which objects are read and changed; it belongs to one thread at a time.
    associatedtype Context
    /// The fetch that says which objects are read, in the face's own words.
    associatedtype Fetch

    /// The fetch of all objects.
    var all: Fetch { get }

    func createContext() -> Context

    /// - Throws: what the face throws for a fetch that it cannot do.
    func fetch(_ fetch: Fetch, in context: Context) throws -> [Record]

    /// Saves what has changed in the context; nothing is done where nothing has.
    ///
    /// - Throws: what the face throws where the store cannot have it; nothing is saved then.
    func save(_ context: Context) throws
}

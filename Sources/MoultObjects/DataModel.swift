/// A common interface to the objects of one class, independent of the framework that stores them. The Core Data and
/// SwiftData compatibility layers each have an implementation, so that an app can move from one to the other behind it.
///
///     func titles(in model: some DataModel<Note>) throws -> [String] {
///         let context = model.createContext()
///         return try model.fetch(model.all, in: context).map(\.title)
///     }
public protocol DataModel<Record> {
    /// The class of the objects.
    associatedtype Record
    /// The context in which objects are read and changed. One thread at a time may use it.
    associatedtype Context
    /// The fetch request that selects the objects to read, in the framework's own type.
    associatedtype Fetch

    /// The fetch of all objects.
    var all: Fetch { get }

    func createContext() -> Context

    /// - Throws: the framework's error for a fetch that it cannot perform.
    func fetch(_ fetch: Fetch, in context: Context) throws -> [Record]

    /// Saves the changes in the context; does nothing if there are none.
    ///
    /// - Throws: the framework's error if the store cannot accept the changes; then nothing is saved.
    func save(_ context: Context) throws
}

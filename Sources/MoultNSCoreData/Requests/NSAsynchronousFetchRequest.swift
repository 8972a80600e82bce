import Foundation

/// A fetch that is carried out later, in the context's turn.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The request that is fetched.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called with the result, in the context's turn.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The expected number of results, for a progress.
    open var estimatedResultCount = 0

    /// A fetch with a block that gets its result.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
    ) {
        self.fetchRequest = fetchRequest
        self.completionBlock = completionBlock
    }
}

/// The result of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreResult {
    /// The request.
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The results that were found; nil until the fetch is done, and if it failed.
    open internal(set) var finalResult: [ResultType]?
    /// The error with which the fetch failed.
    open internal(set) var operationError: (any Error)?

    init(_ request: NSAsynchronousFetchRequest<ResultType>) { fetchRequest = request }
}

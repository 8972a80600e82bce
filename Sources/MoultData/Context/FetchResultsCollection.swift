/// What a fetch found, read a batch at a time as it is reached.
///
/// It belongs to the thread or actor of its context. One batch is kept; going back reads an earlier one again.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private final class Batches {
        let read: (Range<Int>) throws -> [Element?]
        var range = 0..<0
        var elements: [Element?] = []

        init(_ read: @escaping (Range<Int>) throws -> [Element?]) { self.read = read }
    }

    private let batches: Batches
    private let batchSize: Int
    public let endIndex: Int
    public var startIndex: Int { 0 }

    init(count: Int, batchSize: Int, read: @escaping (Range<Int>) throws -> [Element?]) {
        batches = Batches(read)
        endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
    }

    /// Where the store can no longer be read, as when its file was damaged meanwhile, there is nothing to return: the
    /// program ends. ``ModelContext/enumerate(_:batchSize:allowEscapingMutations:block:)`` throws instead.
    public subscript(position: Int) -> Element {
        precondition(indices.contains(position), "There is no element \(position) among \(endIndex).")
        if !batches.range.contains(position) {
            let start = position / batchSize * batchSize
            batches.range = start..<Swift.min(start + batchSize, endIndex)
            do {
                batches.elements = try batches.read(batches.range)
            } catch {
                preconditionFailure("What a fetch found cannot be read: \(error)")
            }
        }
        guard let element = batches.elements[position - batches.range.lowerBound] else {
            preconditionFailure("What a fetch found is of another class by now.")
        }
        return element
    }
}

/// The results of a fetch, read a batch at a time as they are reached.
///
/// It belongs to the thread or actor of its context. One batch is kept; going back reads an earlier one again.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private final class Batches {
        let read: (Range<Int>) -> [Element]
        /// The place of the first of the elements.
        var start = 0
        var elements: [Element] = []

        init(_ read: @escaping (Range<Int>) -> [Element]) { self.read = read }
    }

    private let batches: Batches
    private let batchSize: Int
    /// The number of elements, decided when the collection was fetched.
    public let endIndex: Int
    /// Always 0.
    public var startIndex: Int { 0 }

    /// - Parameter read: gives an element for each of a range.
    init(count: Int, batchSize: Int, read: @escaping (Range<Int>) -> [Element]) {
        batches = Batches(read)
        endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
    }

    /// - Parameter position: one of the indices, as of an array.
    public subscript(position: Int) -> Element {
        if !batches.elements.indices.contains(position - batches.start) {
            precondition(indices.contains(position), "There is no element \(position) among \(endIndex).")
            batches.start = position / batchSize * batchSize
            batches.elements = batches.read(
                batches.start..<batches.start + Swift.min(endIndex - batches.start, batchSize))
        }
        return batches.elements[position - batches.start]
    }
}

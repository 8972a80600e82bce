import Foundation
import MoultCoreData
import MoultModel
import MoultObjects

/// A dictionary result: a row whose values are made as they are asked for. All rows of a fetch share their keys.
final class FetchedDictionary: NSDictionary {
    private let row: FetchedRow?
    /// What an initializer of the superclass was given instead of a row.
    private let others: NSDictionary

    private static let nothing = NSDictionary()

    init(_ row: FetchedRow) {
        (self.row, others) = (row, Self.nothing)
        super.init(objects: nil, forKeys: nil, count: 0)
    }

    required init(objects: UnsafePointer<AnyObject>?, forKeys keys: UnsafePointer<NSObject>?, count: Int) {
        (row, others) = (nil, NSDictionary(objects: objects, forKeys: keys, count: count))
        super.init(objects: nil, forKeys: nil, count: 0)
    }

    private var keys: [String] {
        guard let row else { return [] }
        return row.columns.names.filter { row[$0] != .null }
    }

    /// The same as a dictionary of Swift's.
    var values: [String: Any] {
        Dictionary(uniqueKeysWithValues: keys.compactMap { key in object(forKey: key).map { (key, $0) } })
    }

    override var count: Int { row == nil ? others.count : keys.count }

    override func object(forKey key: Any) -> Any? {
        guard let row else { return others.object(forKey: key) }
        switch row[key as? String ?? (key as? NSString)?.description ?? ""] {
        case nil, .null?: return nil
        case .object(let id)?: return id
        case .decimal(let digits)?: return NSDecimalNumber(string: digits)
        // Without a context, no value needs the store.
        case let value?: return (try? value.foundation(in: nil)) ?? nil
        }
    }

    override func keyEnumerator() -> NSEnumerator {
        row == nil ? others.keyEnumerator() : NSArray(array: keys).objectEnumerator()
    }

    override var classForCoder: AnyClass { NSDictionary.self }
}

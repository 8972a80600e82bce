import Foundation

/// Finds the name of the property that a key path reads, by reading it of an object that only takes the name down.
final class ManagedKey {
    private var names: [String] = []

    func note(_ name: String) { names.append(name) }

    static func nameIfAny(of path: AnyKeyPath) -> String? {
        guard let type = type(of: path).rootType as? NSManagedObject.Type else { return nil }
        let record = ManagedKey()
        let object = type.init(NSManagedObjectHandle(base: nil, record: record))
        _ = object[keyPath: path]
        return record.names.first
    }

    static func name(of path: AnyKeyPath) -> String {
        if let name = nameIfAny(of: path) { return name }
        raise("NSSortDescriptor(keyPath:)", "\(path) reads no property of the model; name the key instead.")
    }
}

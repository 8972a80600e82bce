import Foundation
import MoultCoreData

extension ManagedObject {
    /// A text; empty where there is none.
    func string(_ key: String) throws -> String { try value(forKey: key) as? String ?? "" }

    /// An amount; zero where there is none.
    func amount(_ key: String) throws -> Decimal { try value(forKey: key) as? Decimal ?? 0 }

    /// The destinations of a relationship, in no order.
    func objects(_ key: String) throws -> Set<ManagedObject> {
        try value(forKey: key) as? Set<ManagedObject> ?? []
    }
}

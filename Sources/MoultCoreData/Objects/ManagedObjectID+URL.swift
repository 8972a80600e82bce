import Foundation

extension ManagedObjectID {
    /// True until the first save of the object; a temporary identity is good in this process only.
    public var isTemporaryID: Bool { isTemporary }

    /// `x-coredata://UUID/Entity/p1`, as Core Data writes it.
    public func uriRepresentation() -> URL {
        URL(string: description) ?? URL(fileURLWithPath: "/dev/null")
    }
}

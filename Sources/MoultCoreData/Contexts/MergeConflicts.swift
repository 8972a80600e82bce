#if !canImport(Darwin)
    // MoultNSCoreData adds what the conflicts say of their objects, which are NSManagedObjects.

    import Foundation

    /// A conflict over one object that was changed both in the context and elsewhere.
    open class NSMergeConflict: NSObject, @unchecked Sendable {
        package let conflict: ManagedObjectMergeError.Conflict
        /// The objects, as MoultNSCoreData keeps them.
        package let held: AnyObject

        package init(_ conflict: ManagedObjectMergeError.Conflict, holding held: AnyObject) {
            (self.conflict, self.held) = (conflict, held)
        }

        /// A sentence that describes the differences.
        open override var description: String { conflict.description }
    }

    /// A conflict over objects that would have the same values for a uniqueness constraint.
    open class NSConstraintConflict: NSObject, @unchecked Sendable {
        package let conflict: ManagedObjectMergeError.Conflict
        /// The objects, as MoultNSCoreData keeps them.
        package let held: AnyObject

        package init(_ conflict: ManagedObjectMergeError.Conflict, holding held: AnyObject) {
            (self.conflict, self.held) = (conflict, held)
        }

        /// A sentence that describes the differences.
        open override var description: String { conflict.description }
    }
#endif

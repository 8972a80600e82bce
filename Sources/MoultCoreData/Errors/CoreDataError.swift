import MoultModel

/// What every error of this module is: one that has Core Data's constant and number next to its own sentence.
public protocol CoreDataError: Error, CustomStringConvertible {
    /// Core Data's own name and number for this error, where it has one.
    var coreData: (constant: String, number: Int)? { get }
}

extension MigrationError: CoreDataError {}

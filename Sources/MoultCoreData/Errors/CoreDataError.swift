import MoultBasics
import MoultModel

/// An error of this module. Next to its own sentence, it has Core Data's constant and number, where there are any.
public protocol CoreDataError: Error, CustomStringConvertible {
    /// Core Data's own name and number for this error, where it has one.
    var coreData: (constant: String, number: Int)? { get }
}

extension MigrationError: CoreDataError {}

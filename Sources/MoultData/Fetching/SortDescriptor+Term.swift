import Foundation
import MoultModel
import MoultObjects

extension SortDescriptor where Compared: PersistentModel {
    /// The sort as a store is asked for it.
    func sortTerm() throws -> ObjectFetch.SortTerm {
        guard let keyPath, let property = ModelProperties.of(Compared.self)[keyPath], case .attribute = property.shape
        else {
            throw MigrationError(
                .fetchUnsupported, "A store cannot sort by \(self).",
                place: ModelProperties.of(Compared.self).entityName,
                remedy: "Sort by a stored property, or sort the objects in memory.")
        }
        return ObjectFetch.SortTerm(property.name, isAscending: order == .forward)
    }
}

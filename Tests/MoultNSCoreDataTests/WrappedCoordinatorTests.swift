import MoultCoreData
import Testing

@testable import MoultNSCoreData

/// Coordinators with Core Data's names over those without a prefix.
@Suite struct WrappedCoordinatorTests {
    @Test func `the model of a coordinator over another one is immutable, so its entities are named once`() {
        let base = PersistentStoreCoordinator(
            managedObjectModel: NSPersistentStoreCoordinator(managedObjectModel: Library.model()).base
                .managedObjectModel)
        let coordinator = NSPersistentStoreCoordinator.over(base)
        #expect(coordinator.managedObjectModel.isFrozen)
        #expect(NSPersistentStoreCoordinator.over(base) === coordinator)
        #expect(Set(coordinator.managedObjectModel.entitiesByName.keys) == Set(Library.model().entitiesByName.keys))
    }
}

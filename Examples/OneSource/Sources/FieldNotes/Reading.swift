import CoreData
import Foundation

/// A measurement, kept with Core Data. Its accessors use keys, which both platforms have: `@NSManaged` is Apple's alone.
public final class Reading: NSManagedObject {
    public var station: String {
        get { value(forKey: "station") as? String ?? "" }
        set { setValue(newValue, forKey: "station") }
    }
    public var degrees: Double {
        get { value(forKey: "degrees") as? Double ?? 0 }
        set { setValue(newValue, forKey: "degrees") }
    }
}

/// The measurements of a Core Data store.
public final class Thermometer {
    public let container: NSPersistentContainer

    /// - Parameter url: the store's file; `/dev/null` for a store in memory.
    public init(url: URL) throws {
        container = NSPersistentContainer(name: "Thermometer", managedObjectModel: Self.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    public func note(_ degrees: Double, at station: String) throws {
        let context = container.viewContext
        let reading = Reading(context: context)
        reading.station = station
        reading.degrees = degrees
        try context.save()
    }

    /// The readings of a station, the coldest first.
    public func readings(at station: String) throws -> [Double] {
        let request = NSFetchRequest<Reading>(entityName: "Reading")
        request.predicate = NSPredicate(format: "station == %@", station)
        request.sortDescriptors = [NSSortDescriptor(key: "degrees", ascending: true)]
        return try container.viewContext.fetch(request).map(\.degrees)
    }

    private static func model() -> NSManagedObjectModel {
        let station = NSAttributeDescription()
        station.name = "station"
        station.attributeType = .stringAttributeType
        station.defaultValue = ""
        let degrees = NSAttributeDescription()
        degrees.name = "degrees"
        degrees.attributeType = .doubleAttributeType
        degrees.defaultValue = 0.0
        let reading = NSEntityDescription()
        reading.name = "Reading"
        reading.managedObjectClassName = NSStringFromClass(Reading.self)
        reading.properties = [station, degrees]
        let model = NSManagedObjectModel()
        model.entities = [reading]
        return model
    }
}

import CoreData
import Foundation

/// One save of everything that a save can do: objects inserted, changed, linked and deleted.
struct Edits {
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel

    init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) {
        self.context = context
        self.model = model
    }

    func apply() throws {
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
            try change(entity)
        }
        try context.save()
    }

    private func change(_ entity: NSEntityDescription) throws {
        guard let name = entity.name else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.includesSubentities = false
        let objects = try context.fetch(request).sorted {
            $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
        }
        let unique = Set(entity.uniquenessConstraints.flatMap { $0 }.map { "\($0)" })
        // A text that no other object has, in the last object; attributes that must be unique too.
        for (key, attribute) in entity.attributesByName
        where attribute.attributeType == .stringAttributeType && !attribute.isTransient && isPlain(attribute) {
            objects.last?.setValue("changed \(unique.contains(key) ? name : "")\(key)", forKey: key)
        }
        // One link more, where nothing is required of it.
        for (key, relationship) in entity.relationshipsByName where !relationship.isToMany && relationship.isOptional {
            guard let destination = relationship.destinationEntity?.name, let first = objects.first else { continue }
            let targets = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: destination))
            first.setValue(targets.last, forKey: key)
        }
        if objects.count > 2, !entity.relationshipsByName.values.contains(where: isRequiredElsewhere) {
            context.delete(objects[1])
        }
        if !entity.relationshipsByName.values.contains(where: { !$0.isOptional }) {
            let made = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
            for (key, attribute) in entity.attributesByName
            where !attribute.isOptional && attribute.defaultValue == nil && isPlain(attribute) {
                made.setValue(sample(attribute, unique.contains(key)), forKey: key)
            }
        }
    }

    /// Whether the object at the other end needs this one.
    private func isRequiredElsewhere(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.deleteRule == .denyDeleteRule || relationship.inverseRelationship.map { !$0.isOptional } ?? false
    }

    /// Derived attributes are the store's own.
    private func isPlain(_ attribute: NSAttributeDescription) -> Bool { !(attribute is NSDerivedAttributeDescription) }

    private func sample(_ attribute: NSAttributeDescription, _ isUnique: Bool) -> Any? {
        switch attribute.attributeType {
        case .stringAttributeType: isUnique ? UUID().uuidString : "new"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 700_000_000.125)
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(string: "https://example.org/new")
        case .binaryDataAttributeType: Data([1, 2, 3])
        case .decimalAttributeType: NSDecimalNumber(string: "12.5")
        case .booleanAttributeType: true
        case .doubleAttributeType, .floatAttributeType: 1.5
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            isUnique ? Int.random(in: 1_000...30_000) : 7
        default: nil
        }
    }
}

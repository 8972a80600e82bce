#if os(Linux)
    import MoultNSCoreData

    /// The entities of the group "names": those of the group "objects", as an app declares them for Core Data.
    final class NamedItem: NSManagedObject {
        @Managed var amount: NSDecimalNumber?
        @Managed var count: Int32
        @Managed var createdAt: Date?
        @Managed var identifier: UUID?
        @Managed var isDone: Bool
        @Managed var note: String?
        @Managed var payload: Data?
        @Managed var price: Double
        @Managed var rank: Int16
        @Managed var title: String?
        @Managed var owner: NamedOwner?
    }

    final class NamedOwner: NSManagedObject {
        @Managed var name: String?
        @Managed var items: Set<NamedItem>?
    }

    final class NamedSchool: NSManagedObject {
        @Managed var name: String?
    }

    final class NamedCourse: NSManagedObject {
        @Managed var name: String?
    }

    final class NamedStudent: NSManagedObject {
        @Managed var name: String?
        @Managed var age: Int64
        @Managed var school: NamedSchool?
        @Managed var courses: Set<NamedCourse>?
    }

    /// The models and stores of the group "names".
    enum NamesData {
        static func items() -> NSManagedObjectModel {
            let item = entity("Item", NamedItem.self)
            let owner = entity("Owner", NamedOwner.self)
            let (link, inverse) = links("owner", item, "items", owner)
            link.maxCount = 1
            let createdAt = attribute("createdAt", .date)
            let title = attribute("title", .string)
            item.properties = [
                attribute("amount", .decimal), attribute("count", .integer32), createdAt,
                attribute("identifier", .uuid), attribute("isDone", .boolean), attribute("note", .string),
                attribute("payload", .binaryData), attribute("price", .double), attribute("rank", .integer16), title,
                link,
            ]
            item.indexes = [createdAt, title].map {
                NSFetchIndexDescription(
                    name: "by\($0.name)", elements: [.init(property: $0, collationType: .binary)])
            }
            owner.properties = [attribute("name", .string), inverse]
            return model(item, owner)
        }

        static func schools() -> NSManagedObjectModel {
            let school = entity("School", NamedSchool.self)
            let course = entity("Course", NamedCourse.self)
            let student = entity("Student", NamedStudent.self)
            let (toSchool, ofSchool) = links("school", student, "students", school)
            toSchool.maxCount = 1
            let (toCourses, ofCourse) = links("courses", student, "students", course)
            school.properties = [attribute("name", .string), ofSchool]
            course.properties = [attribute("name", .string), ofCourse]
            student.properties = [attribute("name", .string), attribute("age", .integer64), toSchool, toCourses]
            return model(school, course, student)
        }

        /// A relationship and its inverse, to-many both.
        private static func links(
            _ name: String, _ source: NSEntityDescription, _ inverseName: String, _ destination: NSEntityDescription
        ) -> (NSRelationshipDescription, NSRelationshipDescription) {
            let (link, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
            (link.name, link.destinationEntity) = (name, destination)
            (inverse.name, inverse.destinationEntity) = (inverseName, source)
            (link.inverseRelationship, inverse.inverseRelationship) = (inverse, link)
            return (link, inverse)
        }

        private static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
            let model = NSManagedObjectModel()
            model.entities = entities
            return model
        }

        private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = NSStringFromClass(type)
            return entity
        }

        private static func attribute(
            _ name: String, _ type: NSAttributeDescription.AttributeType
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.type = type
            attribute.isOptional = true
            return attribute
        }

        /// A context of the store at the path, which is made if there is none.
        static func context(_ model: NSManagedObjectModel, at path: String) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: path))
            let context = NSManagedObjectContext(.mainQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        /// A store with the owners and no items.
        static func makeStore(at path: String) throws {
            let context = try context(items(), at: path)
            for owner in 0..<ObjectsData.owners {
                NamedOwner(context: context).name = "owner \(1000 + owner)"
                // One by one, so that their keys are in the order of their names.
                try context.save()
            }
        }
    }
#endif

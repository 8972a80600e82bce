import MoultBasics
import MoultModel

/// The relational case of the objects' groups: students, each with a school and with three of the courses.
enum SchoolsData {
    /// How many of each there are, of so many objects together.
    struct Counts {
        let schools: Int
        let courses: Int
        let students: Int

        init(_ rows: Int) {
            schools = max(rows / 200, 1)
            courses = max(rows / 200, 3)
            students = max(rows - schools - courses, 1)
        }
    }

    static func model() throws -> ManagedObjectModel {
        let name = AttributeDescription(name: "name", type: .string)
        func toMany(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: 0)
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "School", attributes: [name], relationships: [toMany("students", "Student", "school")]),
            EntityDescription(
                name: "Course", attributes: [name], relationships: [toMany("students", "Student", "courses")]),
            EntityDescription(
                name: "Student", attributes: [name, AttributeDescription(name: "age", type: .integer64)],
                relationships: [
                    RelationshipDescription(name: "school", destinationEntityName: "School", inverseName: "students"),
                    toMany("courses", "Course", "students"),
                ]),
        ])
    }

    /// The numbers of a student's three courses.
    static func courses(of student: Int, of count: Int) -> [Int] {
        (0..<3).map { (student + $0 * (count / 3)) % count }
    }
}

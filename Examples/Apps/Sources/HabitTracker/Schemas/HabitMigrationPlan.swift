import Foundation
import SwiftData

public enum HabitMigrationPlan: SchemaMigrationPlan {
    public static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self, SchemaV3.self] }
    public static var stages: [MigrationStage] { [migrateV1toV2, migrateV2toV3] }

    static let migrateV1toV2 = MigrationStage.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)

    static let migrateV2toV3 = MigrationStage.custom(
        fromVersion: SchemaV2.self,
        toVersion: SchemaV3.self,
        willMigrate: { context in
            let categories = try context.fetch(
                FetchDescriptor<SchemaV2.Category>(sortBy: [SortDescriptor(\.title)]))
            var known: [String: SchemaV2.Category] = [:]
            for category in categories {
                if let first = known[category.title] {
                    for habit in category.habits ?? [] { habit.category = first }
                    context.delete(category)
                } else {
                    known[category.title] = category
                }
            }
            try context.save()
        },
        didMigrate: { context in
            let habits = try context.fetch(FetchDescriptor<SchemaV3.Habit>())
            for habit in habits { habit.completionCount = habit.completions.count }
            try context.save()
        }
    )
}

import Foundation
import SwiftData

@MainActor
public final class DataController {
    public let container: ModelContainer

    public init(url: URL? = nil, inMemory: Bool = false) throws {
        let schema = Schema(versionedSchema: SchemaV3.self)
        let configuration: ModelConfiguration
        if let url {
            configuration = ModelConfiguration(schema: schema, url: url)
        } else {
            configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: inMemory)
        }
        container = try ModelContainer(
            for: schema, migrationPlan: HabitMigrationPlan.self, configurations: [configuration])
    }

    public static let preview: DataController = {
        do {
            let controller = try DataController(inMemory: true)
            try SampleData.insert(into: controller.container.mainContext)
            return controller
        } catch {
            fatalError("Failed to create the preview container: \(error.localizedDescription)")
        }
    }()
}

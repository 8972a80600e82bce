import Foundation
import SwiftData

/// Types of the app whose names others use too.
public struct BackupManager {
    public init() {}

    public func export(from context: ModelContext, to url: URL) throws {
        let names = try context.fetch(FetchDescriptor<Habit>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        try JSONEncoder().encode(names).write(to: url)
    }
}

public struct MigrationLogger {
    public init() {}
    public var sentence: String { "\(HabitMigrationPlan.schemas.count) versions" }
}

public protocol DataModel { var title: String { get } }

extension Habit: DataModel { public var title: String { name } }

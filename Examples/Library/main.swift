import Moult

do {
    let project = try Project(models: "Forum.xcdatamodeld")
    let plan = try await project.plan(for: "forum.sqlite")
    print(plan)
    let report = try await project.migrate("forum.sqlite", following: plan).report
    print("Migrated to \(report.to); the backup is \(report.backup?.name ?? "none")")
    let restored = try await project.rollback("forum.sqlite").report.restored
    print("Back at \(restored.version)")
} catch let error as MigrationError {
    print("\(error.code): \(error.message)\n\(error.remedy)")
}

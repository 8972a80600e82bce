import Moult

let store = "forum.sqlite"
do {
    let project = try Project(models: "Forum.xcdatamodeld")
    print(try await project.status(of: store))
    let plan = try await project.plan(for: store)
    print(plan)

    let rehearsal = try await project.rehearse(store).report
    print("Rehearsed: \(rehearsal.rows) rows, \(rehearsal.losses.count) losses")

    let migration = project.migrate(store, following: plan)
    for await progress in migration.progress {
        if let message = progress.message { print("\(Int(progress.fraction * 100)) % \(message)") }
    }
    let report = try await migration.report
    print("Migrated to \(report.to); the backup is \(report.backup?.name ?? "none")")

    let validation = try await project.validate(store)
    for finding in validation.findings { print("\(finding.severity): \(finding.message)") }
    print("The store is \(validation.isSound ? "sound" : "not sound"): \(validation.version)")

    let rollback = try await project.rollback(store).report
    print("Back at \(rollback.restored.version)")
} catch let error as MigrationError {
    print("\(error.code): \(error.message)\n\(error.remedy)")
}

extension MigrationStage {
    var fromVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(let from, _): from
        }
    }

    var toVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(_, let to): to
        }
    }
}

extension MigrationManager {
    /// Counts something that the policy has done by itself, such as `count("avatar dropped")`: the migration's report
    /// says how often, so that nothing leaves silently.
    public func count(_ what: String) { current?.counts.count(what) }
}

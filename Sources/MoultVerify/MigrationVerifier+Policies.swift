extension MigrationVerifier {
    /// Rows of statements that migration policies have changed stand in a temporary table, `made` beside those that
    /// they have added.
    private var hasPolicyRows: Bool {
        get throws {
            try connection.integer("SELECT count(*) FROM temp.sqlite_master WHERE name = 'moult_policy_rows'") == 1
        }
    }

    /// The condition that no policy has changed the row `d`.
    var untouched: String {
        get throws {
            guard try hasPolicyRows else { return "" }
            return """
                 AND NOT EXISTS (SELECT 1 FROM temp.moult_policy_rows AS w WHERE w.entity = d.Z_ENT AND w.key = d.Z_PK)
                """
        }
    }

    /// Returns the number of rows of an entity that policies have added.
    func added(_ number: Int) throws -> Int64 {
        guard try hasPolicyRows else { return 0 }
        return try connection.integer(
            "SELECT count(*) FROM temp.moult_policy_rows WHERE entity = ? AND made", [.integer(Int64(number))]) ?? 0
    }
}

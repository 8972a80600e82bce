extension MigrationError {
    /// A predicate or expression that is understood but cannot be evaluated.
    package static func predicate(
        _ message: String, place: String = "", remedy: String = "Correct the predicate."
    ) -> MigrationError {
        MigrationError(.invalidPredicate, message, place: place, remedy: remedy)
    }

    /// The same error, with a place where it has none yet.
    func at(_ place: @autoclosure () -> String) -> MigrationError {
        guard self.place.isEmpty else { return self }
        var error = self
        error.place = place()
        return error
    }
}

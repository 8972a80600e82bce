extension MigrationError {
    /// Returns the error with the store's path as the person typed it, in place of the path without symbolic links.
    package func naming(store typed: String, _ system: any System = POSIXSystem()) -> MigrationError {
        guard !typed.hasPrefix("/"), let path = try? system.resolve(typed), path != typed else { return self }
        var error = self
        error.message = message.replacing(path, with: typed)
        if place.hasPrefix(path) { error.place = typed + place.dropFirst(path.count) }
        return error
    }
}

extension String {
    /// The text with the name of each finished file in place of its unfinished one, `NAME.PID-START-UNIQUE.part`, if
    /// this process is making it. A file that another process has left keeps its name.
    package var withoutStagedNames: String {
        guard contains(".part") else { return self }
        let own = "\(POSIXSystem().processIdentifier)"
        return replacing(/\.([0-9]+)-[0-9a-f]+-[0-9a-f]{8}\.part(?:\/new)?/) { match in
            match.1 == own ? "" : String(match.0)
        }
    }
}

extension MigrationError {
    /// Returns the error with the store's path as the person typed it, in place of the path without symbolic links.
    package func naming(store typed: String, _ system: any System = POSIXSystem()) -> MigrationError {
        guard let path = try? system.resolve(typed) else { return self }
        var error = self
        error.message = message.naming(typed, at: path)
        error.place = place.naming(typed, at: path)
        return error
    }
}

extension Finding {
    /// Returns the finding with the store's path as the person typed it.
    package func naming(store typed: String, at path: String) -> Finding {
        var finding = self
        finding.message = message.naming(typed, at: path)
        finding.place = place.naming(typed, at: path)
        return finding
    }
}

extension String {
    /// The text with a relative path as it was typed, in place of the same path in full.
    fileprivate func naming(_ typed: String, at path: String) -> String {
        typed.hasPrefix("/") || typed == path || typed.isEmpty ? self : replacing(path, with: typed)
    }

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

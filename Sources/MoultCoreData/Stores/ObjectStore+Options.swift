import MoultObjects

extension ObjectStore {
    /// Does what the options ask of SQLite when a store is opened.
    func configure(_ options: StoreOptions) throws {
        for pragma in options.pragmas { try setPragma(pragma.name, pragma.value) }
        guard !isReadOnly else { return }
        if options.vacuums { try vacuum() }
        if options.analyzes { try analyze() }
    }

    /// Copies the store to a path where there is none; the copy has the same identity.
    func copy(to destination: String) throws {
        try withConnection { try StoreCopy(from: path, to: destination, exists: false).copy(from: $0) }
    }
}

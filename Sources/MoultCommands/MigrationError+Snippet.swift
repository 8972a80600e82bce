import MoultModel

extension MigrationError {
    /// This error, with the program that would have the code where a plan names code that this program does not have.
    var withSnippet: MigrationError {
        guard code == .codeMissing else { return self }
        var error = self
        error.remedy += """
             The program that holds the code is an executable target of three lines, with the products MoultCommands and \
            MoultCoreData; it has every verb of moult:

                import MoultCommands
                import MoultCoreData
                await MoultCommand.main(registry)   // a MigrationRegistry with \(place.isEmpty ? "the code" : place)
            """
        return error
    }
}

import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    /// Writes a compiled mapping model, with the versions of the model that it was made for, as an `.xcmappingmodel`.
    static func decompile(
        mapping path: String, _ invocation: Invocation, _ console: Console
    ) throws -> ExitCode {
        guard path.hasSuffix(".cdm") else {
            throw MigrationError(
                .usage, "The mapping model is a source already.", place: path, remedy: "Give a compiled .cdm.")
        }
        guard let versions = try invocation.versionsIfKnown(console) else {
            throw invocation.wrong("A .cdm does not contain the models that its source needs. Give them with --model.")
        }
        let system = POSIXSystem()
        let file = try MappingModelFile(contentsOf: path)
        console.say(file.findings)
        let match = try match(of: file, in: versions)
        let (source, destination) = (versions.versions[match.source], versions.versions[match.destination])
        let output = try OutputPath.of(
            file.name, "xcmappingmodel", at: invocation[value: .out], others: ["xcdatamodel", "xcdatamodeld"], system)
        try checkOutput(output, invocation, system)
        let bundle = invocation[value: .model].map { Path.stem(of: $0) + ".xcdatamodeld/" } ?? ""
        let text = try file.mapping.xmlDocument(
            from: source, to: destination,
            paths: ("\(bundle)\(source.name).xcdatamodel", "\(bundle)\(destination.name).xcdatamodel"))
        let name = "xcmapping.xml"
        try BuildProduct(files: [(name, Array(text.utf8))], path: output, rights: .byUmask).write(system)
        console.print([
            "format": 1, "output": .string(output), "versions": JSONValue([source.name, destination.name]),
            "files": JSONValue([Path.join(output, name)]),
        ]) { _ in
            ["Wrote the mapping from \(source.name.printable) to \(destination.name.printable) to \(output.printable)."]
        }
        return .done
    }

    private static func match(
        of file: MappingModelFile, in versions: ModelVersions
    ) throws(MigrationError) -> MappingMatch {
        do {
            return try MappingMatch(of: file.mapping, named: file.name, in: versions)
        } catch {
            guard error.code == .question else { throw error }
            throw MigrationError(
                .question, error.message, place: error.place,
                remedy: "Give --model a folder that has only the two versions.")
        }
    }
}

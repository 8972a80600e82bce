import MoultModel
import MoultModelFiles
import MoultReport
import MoultStore
import MoultSystem
import MoultTools

extension Verb {
    static let decompile = Verb(
        "decompile", "Write a compiled model or mapping model, or a store's model, as a source that Xcode opens.",
        discussion: """
            A .momd becomes an .xcdatamodeld with all versions. A .mom, or the model inside a store, becomes an
            .xcdatamodel, or a bundle with one version if --out ends with .xcdatamodeld. The source lacks what a
            compiled model does not keep, such as code generation, scalar types and the layout of the diagram.
            A .cdm becomes an .xcmappingmodel. An .xcmappingmodel contains the source and the destination version of the
            model. A .cdm contains only the version hashes of these two. --model must therefore name a model that has
            both versions.
            """,
        operands: [compiled], options: [.out, .model, .order, replaces],
        examples: [
            "moult decompile forum.sqlite -o Forum.xcdatamodel", "moult decompile forum.sqlite -o Sources --json",
        ]
    ) { invocation, console in
        let path = try invocation.required(compiled)
        if MappingModelFile.isMappingModel(path) { return try decompile(mapping: path, invocation, console) }
        let system = POSIXSystem()
        let bundle = try ModelBundle(modelOrStoreAt: path)
        console.say(bundle.findings)
        let isStore = try StoreProbe.isDatabase(path)
        let folders: Set<String> = ["momd", "xcdatamodeld"]
        let wish = invocation[value: .out].map { Path.name(of: $0) } ?? ""
        let isBundle =
            bundle.versions.count > 1 || wish.hasSuffix(".xcdatamodeld")
            || folders.contains { Path.name(of: bundle.path).hasSuffix("." + $0) } && !wish.hasSuffix(".xcdatamodel")
        let ending = isBundle ? "xcdatamodeld" : "xcdatamodel"
        let output = try OutputPath.of(
            Path.stem(of: path), ending, at: invocation[value: .out], others: ["xcdatamodel", "xcdatamodeld"], system)
        try checkOutput(output, invocation, system)
        let sources = try sources(of: bundle, isBundle: isBundle, name: Path.stem(of: output), isStore: isStore)
        let product = BuildProduct(
            files: sources.files.map { ($0.path, Array($0.text.utf8)) }, path: output,
            rights: isStore ? .like(path) : .byUmask)
        try product.write(system)
        let names = bundle.versions.map(\.name)
        console.print([
            "format": 1, "output": .string(output), "versions": JSONValue(names),
            "files": JSONValue(sources.files.map { Path.join(output, $0.path) }),
        ]) { _ in
            ["Wrote \(Quantity.count(names.count, "version")) to \(output.printable)."]
        }
        return .done
    }

    /// - Throws: `wouldReplace` for a source that is there, unless it is to be replaced and holds nothing but the files
    ///   of a model or a mapping model.
    static func checkOutput(_ output: String, _ invocation: Invocation, _ system: some System) throws {
        guard try system.exists(output) else { return }
        guard invocation[replaces] else {
            throw MigrationError(
                .wouldReplace, "\(output) exists. Nothing was written.", place: output,
                remedy: "Name another output, or pass --replace.")
        }
        let isFolder = try system.status(of: output)?.kind == .folder && !system.isLink(output)
        let names: Set<String> = [
            "contents", "elements", "layout", "xcmapping.xml", ".xccurrentversion", ".DS_Store",
        ]
        guard try isFolder && system.files(below: output).allSatisfy({ names.contains(Path.name(of: $0)) }) else {
            throw MigrationError(
                .wouldReplace, "\(output) holds files that are no part of a model. Nothing was written.", place: output,
                remedy: "Move it away, or name another output.")
        }
    }

    private static let compiled = Operand("MODEL", "A .momd, a .mom, an .omo, a store, or a .cdm.")
    private static let replaces = Option.flag("replace", "Replace an existing source as a whole.")

    private static func sources(
        of bundle: ModelBundle, isBundle: Bool, name: String, isStore: Bool
    ) throws -> SourceFiles {
        let defaults = SourceFiles.documentDefaults
        guard isBundle else {
            guard let version = bundle.versions.first else {
                throw MigrationError(
                    .modelNotFound, "There is no version to write.", place: bundle.path, remedy: "Name another model.")
            }
            return try SourceFiles(version.model, defaults: defaults)
        }
        if let fault = bundle.currentFault { throw fault }
        // The version inside a store is called after the app's own number, which need not be a name.
        let versions = bundle.versions.map { (name: isStore ? name : $0.name, model: $0.model) }
        let current = isStore ? name : bundle.currentName ?? versions.last?.name
        return try SourceFiles(bundle: versions, currentName: current, defaults: defaults)
    }
}

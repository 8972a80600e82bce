import Foundation
import PackagePlugin

/// Compiles the models of a target into its resource bundle, and writes the classes that they ask for.
@main struct CompileModels: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let moult = try context.tool(named: "moult").url
        let api = uses("MoultCoreData", target) ? "moult" : "both"
        return try sources(in: target.directoryURL).flatMap { source in
            commands(for: source, of: target, in: context.pluginWorkDirectoryURL, api: api, moult: moult)
        }
    }

    private func uses(_ name: String, _ target: any Target) -> Bool {
        target.dependencies.contains { dependency in
            switch dependency {
            case .product(let product): product.name == name
            case .target(let other): other.name == name
            @unknown default: false
            }
        }
    }

    private static let endings = ["xcdatamodeld": "momd", "xcdatamodel": "mom", "xcmappingmodel": "cdm"]

    /// The models in a folder, none of those that lie in others.
    private func sources(in folder: URL) throws -> [URL] {
        let entries = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
        return try entries.sorted { $0.path < $1.path }.flatMap { entry in
            if Self.endings[entry.pathExtension] != nil { return [entry] }
            let isFolder = try entry.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
            return isFolder ? try sources(in: entry) : []
        }
    }

    /// Every file of a model: a change of any is a reason to compile it again.
    private func files(below folder: URL) -> [URL] {
        let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        return (walk?.compactMap { $0 as? URL } ?? []).filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
        }.sorted { $0.path < $1.path }
    }

    private func commands(
        for source: URL, of target: any Target, in work: URL, api: String, moult: URL
    ) -> [Command] {
        let stem = source.deletingPathExtension().lastPathComponent
        let product = work.appendingPathComponent("\(stem).\(Self.endings[source.pathExtension] ?? "mom")")
        let inputs = files(below: source)
        let module = target.sourceModule?.moduleName ?? target.name
        var commands: [Command] = [
            .buildCommand(
                displayName: "Compiling \(source.lastPathComponent)", executable: moult,
                arguments: ["compile", source.path, "--out", product.path, "--module", module], inputFiles: inputs,
                outputFiles: [product])
        ]
        guard source.pathExtension != "xcmappingmodel" else { return commands }
        // SwiftPM has to know the names of the files before any command runs: one file for all classes of a model.
        let classes = work.appendingPathComponent("\(stem)+CoreDataClasses.swift")
        commands.append(
            .buildCommand(
                displayName: "Generating the classes of \(source.lastPathComponent)", executable: moult,
                arguments: [
                    "generate", source.path, "--for", api, "--codegen", "model", "--out", classes.path,
                ], inputFiles: inputs, outputFiles: [classes]))
        return commands
    }
}

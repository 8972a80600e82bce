// swift-tools-version: 6.0
import CompilerPluginSupport
import Foundation
import PackageDescription

/// A target of Moult's, with the targets it may import; CI fails on an import that is not named here.
func module(_ name: String, _ dependencies: [String], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies.map { .byName(name: $0) }, path: path)
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
    .testTarget(name: name, dependencies: dependencies.map { .byName(name: $0) })
}

/// A library of the system. macOS has SQLite, zlib and Expat itself, and SQLite has to be that one: Core Data uses it, and
/// two in one process break each other's locks. The other two are Homebrew's there.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    #if os(macOS)
        let package = brew.map { _ in pkgConfig }
    #else
        let package = Optional(pkgConfig)
    #endif
    return .systemLibrary(
        name: name, pkgConfig: package,
        providers: brew.map { [.apt([apt]), .brew([$0])] } ?? [.apt([apt])])
}

/// The folder of the toolchain's own SwiftSyntax, `lib/swift/host`, found from the library that runs this manifest; nil
/// where a toolchain has none.
func toolchainSwiftSyntax() -> String? {
    typealias Locate = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32
    guard let symbol = dlsym(nil, "dladdr") else { return nil }
    let locate = unsafeBitCast(symbol, to: Locate.self)
    // A Dl_info: the file, its base, the symbol, its address.
    let found = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: 4)
    defer { found.deallocate() }
    let address = unsafeBitCast(Package.self as AnyClass, to: UnsafeRawPointer.self)
    guard locate(address, found) != 0, let file = found[0] else { return nil }
    // …/lib/swift/pm/ManifestAPI/libPackageDescription.so
    let host = URL(fileURLWithPath: String(cString: file)).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("host").path
    return FileManager.default.fileExists(atPath: host + "/SwiftSyntaxMacros.swiftmodule") ? host : nil
}

// Unsafe flags are refused in a dependency that is named by version: there the macros are built with the swift-syntax
// package, which a path and this package itself do without. SwiftPM reads the manifest of a dependency with a URL twice:
// as if in the folder / to resolve versions, and in its checkout; both readings must name the same dependencies.
let folder = URL(fileURLWithPath: Context.packageDirectory)
let hasURL = folder.path == "/" || folder.deletingLastPathComponent().lastPathComponent == "checkouts"
let host = hasURL || Context.environment["MOULT_SWIFT_SYNTAX"] == "package" ? nil : toolchainSwiftSyntax()
let swiftSyntax: [Package.Dependency] =
    host == nil ? [.package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"700.0.0")] : []
let hostModules: [SwiftSetting] = host.map { [.unsafeFlags(["-I", $0])] } ?? []
let hostLibraries: [LinkerSetting] =
    host.map { [.unsafeFlags(["-L", $0, "-Xlinker", "-rpath", "-Xlinker", $0])] } ?? []

func swiftSyntaxProducts(_ names: [String]) -> [Target.Dependency] {
    host == nil ? names.map { .product(name: $0, package: "swift-syntax") } : []
}

let package = Package(
    name: "Moult",
    // Mutex is a part of these systems and later ones.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Moult", targets: ["Moult"]),
        .library(name: "MoultTools", targets: ["MoultTools"]),
        .library(name: "MoultCoreData", targets: ["MoultCoreData"]),
        .library(name: "MoultNSCoreData", targets: ["MoultNSCoreData"]),
        .library(name: "MoultData", targets: ["MoultData"]),
        .library(name: "MoultTesting", targets: ["MoultTesting"]),
        .library(name: "MoultCommands", targets: ["MoultCommands"]),
        .executable(name: "moult", targets: ["moult-cli"]),
        .executable(name: "moult-browse", targets: ["moult-browse"]),
    ],
    dependencies: swiftSyntax,
    targets: [
        system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        system("CZlib", "zlib", apt: "zlib1g-dev"),
        system("CCrypto", "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
        system("CExpat", "expat", apt: "libexpat1-dev"),
        system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),

        // A call of Swift's runtime that the language has no name for.
        .target(name: "CSwiftRuntime", publicHeadersPath: "."),

        module("MoultModel", ["CCrypto"]),
        module("MoultSystem", ["MoultModel", "CCrypto", "CSwiftRuntime"]),
        module("MoultXML", ["CExpat"]),
        module("MoultPropertyList", ["MoultModel", "MoultXML", "CZlib"]),
        module("MoultModelFiles", ["MoultModel", "MoultXML", "MoultPropertyList"]),
        module("MoultPlan", ["MoultModel"]),
        module("MoultSQLite", ["MoultModel", "CSQLite"]),
        module(
            "MoultStore",
            ["MoultModel", "MoultPropertyList", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultSystem"]),
        module("MoultObjects", ["MoultModel", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultSystem"]),
        // UndoManager, which Foundation does not have on Linux, and what registers a context's changes with it.
        module("MoultUndo", ["MoultObjects"]),
        // An app's own code in a migration: policies, stages, rules, and the registry that names them.
        module(
            "MoultTransform",
            [
                "MoultModel", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultObjects",
                "MoultSystem",
            ]),
        module("MoultVerify", ["MoultModel", "MoultSQLite"]),
        // SQLite's file format, page by page, for what SQLite itself does not read.
        module("MoultPages", ["MoultModel", "MoultSQLite", "MoultStore", "MoultSystem"]),
        module(
            "MoultEngine",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultVerify", "MoultSystem",
                "MoultPages", "MoultPropertyList", "MoultObjects", "MoultTransform",
            ]),
        // A second store, of another version, that follows one in use.
        module(
            "MoultMirror",
            [
                "MoultModel", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore", "MoultSystem",
                "MoultVerify", "MoultEngine", "MoultReport",
            ]),
        // What people do around a migration: finding out what is wrong, going back.
        module(
            "MoultCare",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultVerify", "MoultSystem",
                "MoultPages", "MoultObjects", "MoultTransform", "MoultEngine", "MoultMirror", "MoultReport",
            ]),
        module(
            "MoultReport",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultSystem", "MoultEngine", "MoultTransform",
            ]),
        // What a person takes out of a store or looks at: pictures, readable SQL, files.
        module(
            "MoultExport",
            [
                "MoultModel", "MoultModelFiles", "MoultPropertyList", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultTransform", "MoultSystem", "MoultEngine", "MoultReport",
            ]),
        // Rules over the versions of a model, for moult lint.
        module(
            "MoultLint",
            ["MoultModel", "MoultXML", "MoultModelFiles", "MoultPlan", "MoultSystem", "MoultReport"]),
        // Swift source from models: Core Data's classes, SwiftData's models and plans.
        module("MoultGenerate", ["MoultModel", "MoultPlan"]),
        // What the command line has, for programs.
        module(
            "Moult",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultStore", "MoultSystem", "MoultTransform",
                "MoultEngine", "MoultMirror", "MoultCare", "MoultReport",
            ]),
        // Thousands of stores: the manifest, the processes that work on them, and what became of each.
        module(
            "MoultFleet",
            ["MoultModel", "MoultPlan", "MoultSQLite", "MoultStore", "MoultSystem", "MoultEngine"]),
        // What a developer's machine needs and an app does not link.
        module(
            "MoultTools",
            [
                "MoultModel", "MoultModelFiles", "MoultPropertyList", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultSystem", "MoultTransform", "MoultEngine", "MoultReport", "MoultLint",
                "MoultGenerate", "MoultExport", "MoultFleet", "MoultCare", "MoultMirror", "MoultTesting", "Moult",
            ]),
        // Faults at every moment of a migration, for Moult's own tests and for its users'.
        module(
            "MoultTesting",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultSystem",
                "MoultObjects",
                "MoultEngine", "MoultTransform",
            ]),
        module(
            "MoultCoreData",
            [
                "MoultModel", "MoultModelFiles", "MoultPropertyList", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultUndo", "MoultEngine", "MoultMirror", "MoultReport", "MoultSystem",
                "MoultTransform",
            ]),
        // Core Data's own names and signatures.
        module("MoultNSCoreData", ["MoultCoreData", "MoultModel", "MoultObjects", "MoultUndo"]),
        // The macros; a test of the plugin itself would make SwiftPM build every module twice.
        .target(
            name: "MoultDataExpansion",
            dependencies: swiftSyntaxProducts([
                "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics",
            ]), swiftSettings: hostModules, linkerSettings: hostLibraries),
        .macro(
            name: "MoultDataMacros",
            dependencies: ["MoultDataExpansion"]
                + swiftSyntaxProducts(["SwiftSyntaxMacros", "_SwiftCompilerPluginMessageHandling"]),
            swiftSettings: hostModules, linkerSettings: hostLibraries),
        module(
            "MoultData",
            [
                "MoultDataMacros", "MoultCoreData", "MoultModel", "MoultModelFiles", "MoultPropertyList", "MoultPlan",
                "MoultSQLite", "MoultStore", "MoultObjects", "MoultUndo", "MoultEngine", "MoultReport", "MoultSystem",
                "MoultTransform",
            ]),
        module(
            "MoultCommands",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultStore", "MoultObjects", "MoultEngine",
                "MoultReport", "MoultTransform", "MoultSystem", "MoultSQLite", "MoultPropertyList", "MoultTesting",
                "MoultMirror", "MoultCare", "MoultLint", "MoultGenerate", "MoultExport", "MoultFleet", "Moult",
                "MoultTools",
            ]),
        // The local page of moult browse, as requests and responses; the program that serves it is apart, so that the
        // command line does not link a server.
        module(
            "MoultBrowse",
            [
                "Moult", "MoultExport", "MoultModel", "MoultPlan", "MoultStore", "MoultSystem", "MoultSQLite",
                "MoultEngine", "MoultReport",
            ]),
        .executableTarget(
            name: "moult-browse",
            dependencies: ["MoultBrowse", "MoultCommands", "MoultModel", "MoultSystem", "CMicroHTTPD"]),
        // Not named moult: beside Moult that would be one folder on a file system that ignores case.
        .executableTarget(name: "moult-cli", dependencies: ["MoultCommands"]),

        // Two apps with their own tools, as users of the products would write them.
        .target(
            name: "ForumReader", dependencies: ["MoultCoreData"], path: "Examples/Forum/Sources/ForumReader",
            resources: [.copy("ForumReader.xcdatamodeld")]),
        .executableTarget(
            name: "forum-reader", dependencies: ["ForumReader", "MoultCommands"],
            path: "Examples/Forum/Sources/forum-reader"),
        .testTarget(
            name: "ForumReaderTests",
            dependencies: ["ForumReader", "forum-reader", "MoultCoreData", "MoultTesting", "TestSupport"],
            path: "Examples/Forum/Tests"),
        .target(name: "WealthLedger", dependencies: ["MoultCoreData"], path: "Examples/Wealth/Sources/WealthLedger"),
        .executableTarget(
            name: "wealth-ledger", dependencies: ["WealthLedger", "MoultCommands"],
            path: "Examples/Wealth/Sources/wealth-ledger"),
        .testTarget(
            name: "WealthLedgerTests",
            dependencies: ["WealthLedger", "wealth-ledger", "MoultCoreData", "MoultTesting", "TestSupport"],
            path: "Examples/Wealth/Tests"),

        // Two apps with SwiftData's plans.
        .target(name: "HabitTracker", dependencies: ["MoultData"], path: "Examples/Habits/Sources/HabitTracker"),
        .executableTarget(
            name: "habit-tracker", dependencies: ["HabitTracker", "MoultData", "MoultCommands"],
            path: "Examples/Habits/Sources/habit-tracker"),
        .testTarget(
            name: "HabitTrackerTests",
            dependencies: ["HabitTracker", "habit-tracker", "moult-cli", "MoultData", "MoultTesting", "TestSupport"],
            path: "Examples/Habits/Tests"),
        .target(
            name: "NotesAndRestaurants", dependencies: ["MoultData"],
            path: "Examples/Notes/Sources/NotesAndRestaurants"),
        .executableTarget(
            name: "notes-and-restaurants", dependencies: ["NotesAndRestaurants", "MoultData", "MoultCommands"],
            path: "Examples/Notes/Sources/notes-and-restaurants"),
        .testTarget(
            name: "NotesAndRestaurantsTests",
            dependencies: ["NotesAndRestaurants", "notes-and-restaurants", "MoultData", "TestSupport"],
            path: "Examples/Notes/Tests"),

        // Measures Moult beside the sqlite3 shell: Benchmarks/run.
        .executableTarget(
            name: "moult-benchmarks",
            dependencies: [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultSystem",
                "MoultObjects", "MoultEngine", "MoultReport", "MoultTransform", "MoultCoreData", "MoultData",
                "MoultExport",
            ], path: "Benchmarks/Sources"),

        .target(
            name: "TestSupport",
            dependencies: [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore", "MoultObjects",
                "MoultSystem", "MoultTransform",
            ], path: "Tests/TestSupport"),
        tests(
            "MoultObjectsTests",
            [
                "MoultObjects", "MoultStore", "MoultModel", "MoultModelFiles", "MoultSQLite", "MoultSystem",
                "MoultPropertyList", "MoultEngine", "TestSupport", "objects-child",
            ]),
        tests("MoultUndoTests", ["MoultUndo"]),
        // A process that saves into the store of the objects' tests while they do.
        .executableTarget(name: "objects-child", dependencies: ["TestSupport"], path: "Tests/ObjectsChild"),
        tests(
            "MoultTransformTests",
            [
                "MoultTransform", "MoultObjects", "MoultStore", "MoultModel", "MoultModelFiles", "MoultPlan",
                "MoultSQLite", "MoultSystem", "MoultEngine", "TestSupport",
            ]),
        tests("MoultModelTests", ["MoultModel", "TestSupport"]),
        tests("MoultModelFilesTests", ["MoultModelFiles", "MoultModel", "MoultPropertyList", "TestSupport"]),
        tests("MoultPropertyListTests", ["MoultModel", "MoultPropertyList", "TestSupport"]),
        tests("MoultSystemTests", ["MoultModel", "MoultSystem", "TestSupport"]),
        tests(
            "MoultStoreTests",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultSystem", "TestSupport",
            ]),
        tests(
            "MoultEngineTests",
            [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultSystem", "MoultEngine", "MoultMirror", "MoultCare", "MoultPages", "MoultObjects",
                "MoultTransform", "MoultReport", "MoultVerify", "FaultCases", "TestSupport", "engine-child",
                "moult-fuzz",
            ]),
        // A process for the engine's tests to kill.
        .executableTarget(
            name: "engine-child",
            dependencies: [
                "MoultEngine", "MoultMirror", "MoultSystem", "MoultModel", "MoultPlan", "MoultStore", "MoultTransform",
                "TestSupport",
            ],
            path: "Tests/EngineChild"),
        // Hostile input for every reader; Scripts/fuzz builds it with libFuzzer.
        .executableTarget(
            name: "moult-fuzz",
            dependencies: [
                "MoultModel", "MoultModelFiles", "MoultPlan", "MoultPropertyList", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultEngine", "MoultCare", "MoultTransform", "MoultReport", "MoultSystem",
                "MoultCommands", "MoultGenerate", "MoultFleet", "TestSupport",
            ],
            path: "Tests/Fuzz", exclude: ["Found"]),
        // Every kind of migration on a small store, for trials with faults; moult-faults runs them all.
        .target(
            name: "FaultCases",
            dependencies: [
                "MoultModel", "MoultPlan", "MoultStore", "MoultObjects", "MoultSystem", "MoultEngine", "MoultMirror",
                "MoultCare", "MoultTransform", "MoultTesting", "TestSupport",
            ], path: "Tests/FaultCases"),
        .executableTarget(
            name: "moult-faults",
            dependencies: [
                "FaultCases", "MoultTesting", "MoultModel", "MoultSQLite", "MoultSystem",
                "TestSupport",
            ],
            path: "Tests/Faults"),
        tests(
            "MoultTestingTests",
            [
                "MoultTesting", "MoultModel", "MoultSQLite", "MoultStore", "MoultSystem", "MoultEngine",
                "MoultTransform", "FaultCases", "moult-faults", "TestSupport",
            ]),
        tests(
            "MoultFleetTests",
            [
                "MoultFleet", "MoultModel", "MoultModelFiles", "MoultSQLite", "MoultStore", "MoultSystem",
                "TestSupport",
            ]),
        tests("MoultSQLiteTests", ["MoultModel", "MoultSQLite", "TestSupport"]),
        tests("MoultPlanTests", ["MoultModel", "MoultModelFiles", "MoultPlan", "TestSupport"]),
        tests(
            "MoultDataTests",
            [
                "MoultData", "MoultCoreData", "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultEngine", "MoultSystem", "MoultTransform", "TestSupport",
            ]),
        // Source as SwiftData's users write it, changed only in its import.
        tests("MoultDataSamplesTests", ["MoultData", "TestSupport"]),
        .testTarget(
            name: "MoultDataExpansionTests",
            dependencies: ["MoultDataExpansion"]
                + swiftSyntaxProducts([
                    "SwiftSyntax", "SwiftParser", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftDiagnostics",
                ]), swiftSettings: hostModules, linkerSettings: hostLibraries),
        // The library's page and the README's program, as users of the product would write them.
        tests(
            "MoultTests",
            [
                "Moult", "MoultTools", "MoultModel", "MoultModelFiles", "MoultObjects", "MoultStore", "TestSupport",
                "library-example",
            ]),
        .executableTarget(
            name: "library-example", dependencies: ["Moult"], path: "Examples/Library"),
        tests("MoultReportTests", ["MoultModel", "MoultReport", "TestSupport"]),
        tests(
            "MoultLintTests",
            [
                "MoultLint", "MoultData", "MoultModel", "MoultModelFiles", "MoultPlan", "MoultReport", "MoultTransform",
                "MoultXML", "TestSupport",
            ]),
        tests(
            "MoultCoreDataTests",
            [
                "MoultCoreData", "MoultModel", "MoultModelFiles", "MoultStore", "MoultSystem", "MoultTransform",
                "MoultEngine", "TestSupport",
            ]),
        tests("MoultNSCoreDataTests", ["MoultNSCoreData", "MoultData", "TestSupport"]),
        tests(
            "MoultExportTests",
            [
                "MoultExport", "MoultModel", "MoultModelFiles", "MoultPlan", "MoultSQLite", "MoultStore",
                "MoultObjects", "MoultSystem", "MoultEngine", "TestSupport",
            ]),
        tests(
            "MoultBrowseTests",
            [
                "MoultBrowse", "MoultExport", "MoultModel", "MoultModelFiles", "MoultObjects", "MoultSQLite",
                "MoultStore", "moult-browse", "TestSupport",
            ]),
        // Generated sources are part of these tests: they compile, and run.
        tests(
            "MoultGenerateTests",
            [
                "MoultGenerate", "MoultModel", "MoultModelFiles", "MoultPlan", "MoultData", "MoultCoreData",
                "MoultNSCoreData", "TestSupport",
            ]),
        tests(
            "MoultCommandsTests",
            [
                "moult-cli", "Moult", "MoultTools", "MoultCommands", "MoultCoreData", "MoultData", "MoultEngine",
                "MoultModel", "MoultModelFiles", "MoultReport", "MoultSystem", "MoultTransform", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

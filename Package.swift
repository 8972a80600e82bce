// swift-tools-version: 6.0
import CompilerPluginSupport
import Foundation
import PackageDescription

/// Apple's systems have CommonCrypto and Foundation's parser in place of these: the SDK of iOS has neither library.
let notOfApple: Set = ["CCrypto", "CExpat"]

func dependency(_ name: String) -> Target.Dependency {
    .byName(name: name, condition: notOfApple.contains(name) ? .when(platforms: [.linux, .android]) : nil)
}

/// A target of Moult's, with the targets it may import; CI fails on an import that is not named here.
func module(_ name: String, _ dependencies: [String], path: String? = nil, exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies.map(dependency), path: path, exclude: exclude)
}

func program(_ name: String, _ dependencies: [String], path: String? = nil, exclude: [String] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, path: path, exclude: exclude)
}

func tests(_ name: String, _ dependencies: [String], path: String? = nil, exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies.map { .byName(name: $0) }, path: path, exclude: exclude)
}

// The rooms below another one, lowest first: what almost every module above them may import.
let model = ["MoultBasics", "MoultModel", "MoultModelFiles"]
let store = model + ["MoultSQLite", "MoultPlan", "MoultStore"]
let engine = store + ["MoultObjects", "MoultEngine"]
let session = engine + ["MoultSession"]
let moult = session + ["Moult"]
let tools = moult + ["MoultCare", "MoultTools"]

/// Folders and files with names that are the system's on Apple's platforms.
func systemsNames(_ paths: String...) -> [String] {
    #if os(macOS)
        return paths
    #else
        return []
    #endif
}

/// A library of the system. Apple's systems have SQLite and zlib themselves, and SQLite has to be that one: Core Data uses
/// it, and two in one process break each other's locks. On a Mac, libmicrohttpd is Homebrew's.
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
    // Mutex is a part of these systems and later ones. Scripts/check-apple reads the sources for each of them.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
    products: [
        .library(name: "Moult", targets: ["Moult"]),
        .library(name: "MoultCare", targets: ["MoultCare"]),
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
        system("CCrypto", "libcrypto", apt: "libssl-dev"),
        system("CExpat", "expat", apt: "libexpat1-dev"),
        system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
        // A call of Swift's runtime that the language has no name for.
        .target(name: "CSwiftRuntime", publicHeadersPath: "."),

        // Ground: the machine and its formats; SQLite, by its API and by its pages.
        module("MoultBasics", ["CCrypto", "CExpat", "CZlib", "CSwiftRuntime"]),
        module("MoultSQLite", ["MoultBasics", "CSQLite"]),
        // Knowledge: a model and its hash, its files; what changed; a store's tables and the SQL to the next; the witness.
        module("MoultModel", ["MoultBasics"]),
        module("MoultModelFiles", ["MoultBasics", "MoultModel"]),
        module("MoultPlan", ["MoultBasics", "MoultModel"]),
        module("MoultStore", model + ["MoultPlan", "MoultSQLite"]),
        module("MoultVerify", ["MoultBasics", "MoultSQLite"]),
        // Work: the only writer of rows, with an app's code over them; the only writer of files.
        module("MoultObjects", store),
        module("MoultEngine", store + ["MoultObjects", "MoultVerify"]),
        // Every use case once: what a container needs, then all for an app and the faces; and what finds out what is wrong,
        // salvages and mirrors.
        module("MoultSession", engine),
        module("Moult", session + ["MoultVerify"]),
        module("MoultCare", moult + ["MoultVerify"]),
        // What a developer's machine needs and an app does not link, with the pages of moult browse.
        module("MoultTools", moult + ["MoultCare", "MoultTesting"]),
        // Faults at every moment of a migration, for Moult's own tests and for its users'.
        module("MoultTesting", moult),
        module("MoultCoreData", session),
        // Core Data's own names. Empty on Apple's systems, which have Core Data.
        module("MoultNSCoreData", session + ["MoultCoreData"], exclude: systemsNames("CoreDataNames")),
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
        module("MoultData", session + ["MoultDataMacros", "MoultCoreData"]),
        module("MoultCommands", ["MoultBasics", "MoultModel", "Moult", "MoultCare", "MoultTools"]),
        // The server is a program of its own, so that the command line does not link one.
        program(
            "moult-browse",
            ["MoultBasics", "MoultModel", "MoultTesting", "MoultTools", "MoultCommands", "CMicroHTTPD"]),
        // Not named moult: beside Moult that would be one folder on a file system that ignores case.
        program("moult-cli", ["MoultCommands"]),

        // Two apps with their own tools, as users of the products would write them.
        .target(
            name: "ForumReader", dependencies: ["MoultCoreData"], path: "Examples/Forum/Sources/ForumReader",
            resources: [.copy("ForumReader.xcdatamodeld")]),
        program(
            "forum-reader", ["ForumReader", "MoultCommands"], path: "Examples/Forum/Sources/forum-reader"),
        tests(
            "ForumReaderTests", ["ForumReader", "forum-reader", "MoultCoreData", "MoultTesting", "TestSupport"],
            path: "Examples/Forum/Tests"),
        module("WealthLedger", ["MoultCoreData"], path: "Examples/Wealth/Sources/WealthLedger"),
        program("wealth-ledger", ["WealthLedger", "MoultCommands"], path: "Examples/Wealth/Sources/wealth-ledger"),
        tests(
            "WealthLedgerTests", ["WealthLedger", "wealth-ledger", "MoultCoreData", "MoultTesting", "TestSupport"],
            path: "Examples/Wealth/Tests"),
        // Two apps with SwiftData's plans.
        module("HabitTracker", ["MoultData"], path: "Examples/Habits/Sources/HabitTracker"),
        program(
            "habit-tracker", ["HabitTracker", "MoultData", "MoultCommands"],
            path: "Examples/Habits/Sources/habit-tracker"),
        tests(
            "HabitTrackerTests",
            ["HabitTracker", "habit-tracker", "moult-cli", "MoultData", "MoultTesting", "TestSupport"],
            path: "Examples/Habits/Tests"),
        module("NotesAndRestaurants", ["MoultData"], path: "Examples/Notes/Sources/NotesAndRestaurants"),
        program(
            "notes-and-restaurants", ["NotesAndRestaurants", "MoultData", "MoultCommands"],
            path: "Examples/Notes/Sources/notes-and-restaurants"),
        tests(
            "NotesAndRestaurantsTests", ["NotesAndRestaurants", "notes-and-restaurants", "MoultData", "TestSupport"],
            path: "Examples/Notes/Tests"),
        // An app's launch with a progress screen.
        module("LaunchScreen", ["Moult"], path: "Examples/Launch/Sources/LaunchScreen"),
        tests(
            "LaunchScreenTests", ["LaunchScreen", "Moult", "MoultModel", "MoultTesting", "TestSupport"],
            path: "Examples/Launch/Tests"),
        // The README's program, as a user of the library would write it.
        program("library-example", ["Moult"], path: "Examples/Library"),
        // Measures Moult beside the sqlite3 shell: Benchmarks/run.
        program(
            "moult-benchmarks", tools + ["MoultCoreData", "MoultNSCoreData", "MoultData", "CSQLite"],
            path: "Benchmarks/Sources"),

        module("TestSupport", store + ["MoultObjects"], path: "Tests/TestSupport"),
        tests("MoultBasicsTests", ["MoultBasics", "MoultModel", "TestSupport"]),
        tests("MoultSQLiteTests", ["MoultBasics", "MoultModel", "MoultSQLite", "TestSupport"]),
        tests("MoultModelTests", ["MoultBasics", "MoultModel", "TestSupport"]),
        tests("MoultModelFilesTests", model + ["MoultTools", "TestSupport"]),
        tests("MoultPlanTests", model + ["MoultPlan", "TestSupport"]),
        tests("MoultStoreTests", store + ["MoultCare", "MoultTools", "TestSupport"]),
        tests("MoultObjectsTests", moult + ["TestSupport", "objects-child"]),
        // A process that saves into the store of the objects' tests while they do.
        program("objects-child", ["TestSupport"], path: "Tests/ObjectsChild"),
        tests(
            "MoultEngineTests",
            moult + ["MoultCare", "MoultVerify", "FaultCases", "TestSupport", "engine-child", "moult-fuzz"]),
        // A process for the engine's tests to kill.
        program("engine-child", moult + ["MoultCare", "TestSupport"], path: "Tests/EngineChild"),
        // Hostile input for every reader; Scripts/fuzz builds it with libFuzzer.
        program("moult-fuzz", tools + ["MoultCommands", "TestSupport"], path: "Tests/Fuzz", exclude: ["Found"]),
        // Every kind of migration on a small store, for trials with faults; moult-faults runs them all.
        module("FaultCases", moult + ["MoultCare", "MoultTesting", "TestSupport"], path: "Tests/FaultCases"),
        program(
            "moult-faults", ["FaultCases", "MoultTesting", "MoultBasics", "MoultModel", "MoultSQLite", "TestSupport"],
            path: "Tests/Faults"),
        // Lives of stores from seeds, against a reference that shares nothing with the engine.
        program(
            "moult-simulate",
            tools + [
                "MoultCommands", "MoultCoreData", "MoultData", "MoultTesting", "TestSupport", "CSQLite",
            ],
            path: "Tests/Simulation", exclude: ["Kept"]),
        tests(
            "MoultTestingTests",
            moult + ["MoultCare", "MoultTesting", "FaultCases", "moult-faults", "moult-simulate", "TestSupport"]),
        tests("MoultTests", moult + ["MoultCare", "MoultTools", "TestSupport", "library-example"]),
        // Generated sources are part of these tests: they compile, and run.
        tests(
            "MoultToolsTests",
            tools + [
                "MoultCoreData", "MoultNSCoreData", "MoultData", "moult-browse", "moult-benchmarks", "TestSupport",
            ],
            exclude: systemsNames(
                "Generation/BothRoundTripTests.swift", "Generation/Generated/Both",
                "Generation/SwiftDataModelsTests.swift", "Generation/Generated/Fleet")),
        tests(
            "MoultCoreDataTests", moult + ["MoultCare", "MoultCoreData", "MoultNSCoreData", "TestSupport"],
            exclude: systemsNames("CoreDataNames")),
        tests("MoultNSCoreDataTests", ["MoultCoreData", "MoultNSCoreData", "MoultData", "TestSupport"]),
        tests("MoultDataTests", moult + ["MoultCoreData", "MoultData", "TestSupport"]),
        // Source as SwiftData's users write it, changed only in its import.
        tests("MoultDataSamplesTests", ["MoultData", "TestSupport"]),
        .testTarget(
            name: "MoultDataExpansionTests",
            dependencies: ["MoultDataExpansion"]
                + swiftSyntaxProducts([
                    "SwiftSyntax", "SwiftParser", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftDiagnostics",
                ]), swiftSettings: hostModules, linkerSettings: hostLibraries),
        tests(
            "MoultCommandsTests",
            tools + ["MoultCommands", "MoultCoreData", "MoultData", "moult-cli", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

#if os(macOS)
    // These tests use Core Data's own names, which the system has.
    package.targets.removeAll { $0.name == "MoultNSCoreDataTests" }
#endif

// Scripts/sanitize builds the tests of some targets, with nothing but what they need.
if let names = Context.environment["MOULT_TESTS"] {
    var (needed, open): (Set<String>, [String]) = ([], names.split(separator: ",").map(String.init))
    while let name = open.popLast() {
        guard needed.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            open.append(name)
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}

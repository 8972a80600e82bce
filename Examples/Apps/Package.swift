// swift-tools-version: 6.0
import PackageDescription

// The data layers of four apps, as an app's author writes them: no source file says which platform it is for. On a Mac
// the package has no dependency. `MOULT_SWIFT_5=1` builds in Swift's language mode 5.
var dependencies: [Package.Dependency] = []
var products: [Target.Dependency] = []
#if os(Linux)
    dependencies = [.package(name: "DropIn", path: "../../DropIn")]
    products = ["SwiftData", "CoreData"].map {
        .product(name: $0, package: "DropIn", condition: .when(platforms: [.linux]))
    }
#endif

let apps = ["HabitTracker", "RecipeBox", "ChatClient", "Library"]
let package = Package(
    name: "Apps",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: dependencies,
    targets: apps.flatMap { app -> [Target] in
        [
            .target(name: app + "App", dependencies: products, path: "Sources/\(app)"),
            .testTarget(name: app + "AppTests", dependencies: [.byName(name: app + "App")], path: "Tests/\(app)Tests"),
        ]
    },
    swiftLanguageModes: [Context.environment["MOULT_SWIFT_5"] == nil ? .v6 : .v5]
)

// swift-tools-version: 6.0
import PackageDescription

// On a Mac this package has no dependency: SwiftData and Core Data are the system's. Elsewhere they are Moult's modules
// of the same names, and no source file says which.
var dependencies: [Package.Dependency] = []
var products: [Target.Dependency] = []
#if os(Linux)
    dependencies = [.package(name: "DropIn", path: "../../DropIn")]
    products = ["SwiftData", "CoreData"].map {
        .product(name: $0, package: "DropIn", condition: .when(platforms: [.linux]))
    }
#endif

let package = Package(
    name: "OneSource",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "FieldNotes", targets: ["FieldNotes"]), .library(name: "Records", targets: ["Records"]),
    ],
    dependencies: dependencies,
    targets: [
        .target(name: "FieldNotes", dependencies: products),
        .testTarget(name: "FieldNotesTests", dependencies: ["FieldNotes"]),
        .target(name: "Records", dependencies: products),
        .testTarget(name: "RecordsTests", dependencies: ["Records"] + products),
    ],
    swiftLanguageModes: [.v6]
)

//
//  FleetMigrationPlan.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

#if canImport(Darwin)
import SwiftData
#else
import MoultData
#endif

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
enum FleetMigrationPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [FleetV1.self, FleetV2.self, FleetV3.self]
    }

    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: FleetV1.self, toVersion: FleetV2.self),
            // Ship.flag is required and has no default value for the existing objects. Give it a default value or make it optional.
            .custom(
                fromVersion: FleetV2.self, toVersion: FleetV3.self, willMigrate: nil,
                didMigrate: { context in
                    try context.save()
                }),
        ]
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) typealias Captain = FleetV3.Captain
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) typealias Cook = FleetV3.Cook
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) typealias Port = FleetV3.Port
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) typealias Sailor = FleetV3.Sailor
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) typealias Ship = FleetV3.Ship

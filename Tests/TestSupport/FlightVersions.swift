import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// An attribute moves into an entity of its own in three stages: version 2 adds the entity and the relationship,
/// code copies the values, version 3 drops the attribute.
package enum FlightVersions {
    package static func make() throws -> ModelVersions {
        let models = try [
            ManagedObjectModel(entities: [aircraft(hasData: true, hasFlight: false)]),
            ManagedObjectModel(entities: [aircraft(hasData: true, hasFlight: true), flightData]),
            ManagedObjectModel(entities: [aircraft(hasData: false, hasFlight: true), flightData]),
        ]
        return ModelVersions(versions: models.enumerated().map { ModelVersion(names: ["V\($0 + 1)"], model: $1) })
    }

    private static func aircraft(hasData: Bool, hasFlight: Bool) -> EntityDescription {
        let data = AttributeDescription(name: "flightData", type: .binary, allowsExternalBinaryDataStorage: true)
        let flight = RelationshipDescription(
            name: "flight", destinationEntityName: "FlightData", inverseName: "aircraft")
        return EntityDescription(
            name: "Aircraft",
            attributes: [.init(name: "name", type: .string, isOptional: false)] + (hasData ? [data] : []),
            relationships: hasFlight ? [flight] : [])
    }

    private static let flightData = EntityDescription(
        name: "FlightData",
        attributes: [.init(name: "data", type: .binary, allowsExternalBinaryDataStorage: true)],
        relationships: [.init(name: "aircraft", destinationEntityName: "Aircraft", inverseName: "flight")])

    /// A store of version 1; every tenth aircraft has no data, and `external` of them more than a row takes.
    package static func makeStore(at path: String, count: Int, external: Int = 2) throws {
        let maker = try StoreCreator(make().versions[0])
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        for number in 0..<count {
            var values: [String: PropertyValue] = ["name": .attribute(.string("Aircraft \(number)"))]
            let size = number < external ? ExternalStorage.threshold + number : 20 + number % 50
            if number % 10 != 9 {
                let head = Array("flight \(number) ".utf8)
                values["flightData"] = .attribute(
                    .binary(head + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size - head.count)))
            }
            _ = try writer.insert("Aircraft", values)
        }
        try writer.finish()
    }

    /// What an app's own stage does at version 2, with untyped objects; begun again it finishes.
    package static func copyFlightData(_ context: ObjectContext) throws {
        var batch = 0
        try context.forEachObject(ObjectFetch(entityName: "Aircraft")) { aircraft in
            guard let data = try aircraft.attribute("flightData"), try aircraft.toOne("flight") == nil else { return }
            let flight = try context.insert("FlightData")
            try flight.setAttribute("data", data)
            try aircraft.setToOne("flight", flight)
            batch += 1
            if batch % 50 == 0 { try context.save() }
        }
        try context.save()
    }

    /// Each aircraft's name with a hash of its data, by plain SQL over a store of any of the versions; the files of
    /// external data are read from the disk.
    package static func witness(_ path: String) throws -> [String] {
        let columns = "SELECT group_concat(name) FROM pragma_table_info('ZAIRCRAFT')"
        let isNew = try !SQLiteShell.run(path, columns).contains("ZFLIGHTDATA")
        let join = isNew ? "LEFT JOIN ZFLIGHTDATA f ON f.Z_PK = a.ZFLIGHT AND f.ZAIRCRAFT = a.Z_PK" : ""
        let data = isNew ? "f.ZDATA" : "a.ZFLIGHTDATA"
        let query = "SELECT a.ZNAME, \(digest(of: data, in: path)) FROM ZAIRCRAFT a \(join) ORDER BY a.Z_PK"
        return try SQLiteShell.run(path, query).utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
    }

    /// SQL for a digest of a column's data, which may be in a file next to the store.
    package static func digest(of data: String, in path: String) -> String {
        let folder = ExternalStorage(store: path).folder
        // A reference is the byte 2, the name of the file and a zero; data in the row begin with the byte 1.
        let file = "CAST(substr(\(data), 2, length(\(data)) - 2) AS TEXT)"
        return """
            hex(sha3(iif(substr(\(data), 1, 1) = x'02', CAST(x'01' || readfile('\(folder)/' || \(file)) AS BLOB), \
            \(data))))
            """
    }

    /// The text whose bytes in UTF-8 the digits are.
    package static func text(ofHexadecimal digits: Substring) -> String {
        let digits = Array(digits)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

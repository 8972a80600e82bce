import Foundation
import SwiftData

/// A bird that somebody saw.
@Model
public final class Sighting {
    public var species: String
    public var count: Int
    public var day: Date
    public var site: Site?

    public init(species: String, count: Int, day: Date, site: Site? = nil) {
        self.species = species
        self.count = count
        self.day = day
        self.site = site
    }
}

/// Where birds are seen.
@Model
public final class Site {
    @Attribute(.unique) public var name: String
    @Relationship(deleteRule: .cascade, inverse: \Sighting.site) public var sightings: [Sighting] = []

    public init(name: String) { self.name = name }
}

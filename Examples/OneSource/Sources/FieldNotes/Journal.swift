import Foundation
import SwiftData

/// The sightings of a SwiftData store.
public struct Journal {
    public let container: ModelContainer

    /// - Parameter url: the store's file; nil for a journal in memory.
    public init(url: URL? = nil) throws {
        let schema = Schema([Sighting.self, Site.self])
        let configuration =
            url.map { ModelConfiguration(schema: schema, url: $0) }
            ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        container = try ModelContainer(for: schema, configurations: [configuration])
    }

    public func record(_ species: String, count: Int, at siteName: String, on day: Date) throws {
        let context = ModelContext(container)
        let known = try context.fetch(FetchDescriptor<Site>(predicate: #Predicate { $0.name == siteName })).first
        let site = known ?? Site(name: siteName)
        if known == nil { context.insert(site) }
        context.insert(Sighting(species: species, count: count, day: day, site: site))
        try context.save()
    }

    /// How many birds of each species were seen at a site.
    public func totals(at siteName: String) throws -> [String: Int] {
        let context = ModelContext(container)
        let sightings = try context.fetch(
            FetchDescriptor<Sighting>(predicate: #Predicate { $0.site?.name == siteName }))
        return Dictionary(sightings.map { ($0.species, $0.count) }, uniquingKeysWith: +)
    }
}

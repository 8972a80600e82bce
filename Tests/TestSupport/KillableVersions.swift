import MoultModel

/// Two versions for the runs that are killed: a new required attribute fills every row, a new entity renumbers the
/// others, a relationship becomes many-to-many.
package enum KillableVersions {
    package static func make() throws -> ModelVersions {
        try ModelVersions(
            """
            Author = name String
            Item = name String indexed, rate Double, data Binary, links >> Link.item
            Link = place Integer16, item > Item.links
            """,
            """
            Aardvark = word String
            Author = name String
            Item = name String indexed, rate Double, data Binary, score Integer32 required =1, links >> Link.item
            Link = place Integer16, item >> Item.links
            """)
    }
}

import MoultModel

/// Two versions of which nearly all of the way can wait: a column leaves, one is renamed, one with a default and one
/// without come, an entity leaves; no entity gets another number.
package enum DeferrableVersions {
    package static func make() throws -> ModelVersions {
        try ModelVersions(
            """
            Author = name String
            Item = name String indexed, data Binary, rate Double, links >> Link.item
            Link = place Integer16, item > Item.links
            Tag = word String indexed
            """,
            """
            Author = name String, age Integer16
            Item = title String indexed was=name, data Binary, score Integer32 required =7, links >> Link.item
            Link = place Integer16 indexed, item > Item.links
            """)
    }
}

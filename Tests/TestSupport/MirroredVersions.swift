import MoultModel

/// Versions for mirrors, with every kind of relationship: `1`, and two that it goes to.
///
/// `back` is the same under other names and without some of it, so that all that is written there can be taken back.
/// `on` is of another layout: entities are numbered anew, a to-one is a many-to-many, a list has an order.
package enum MirroredVersions {
    package static func make(to other: String) throws -> ModelVersions {
        ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try ManagedObjectModel(first)),
            ModelVersion(names: [other], model: try ManagedObjectModel(other == "back" ? back : on)),
        ])
    }

    private static let first = """
        Person = name String required =, age Integer32, born Date, photo Binary external,
            books >> Book.author ordered, mentor > Person.pupils, pupils >> Person.mentor
        Editor (Person) = desk String
        Book = title String, pages Integer16, price Decimal, note String, author > Person.books, tags >> Tag.books,
            cover > Cover.book cascade
        Cover = colour String, book > Book.cover
        Tag = word String, books >> Book.tags
        Shelf = place Integer16, items >> Cover
        Draft = text String
        """

    private static let back = """
        Human was=Person = fullName String required was=name =, age Integer32, born Date, photo Binary external,
            books >> Book.writer ordered, mentor > Human.pupils, pupils >> Human.mentor
        Editor (Human) = desk String
        Book = title String, pages Integer16, price Decimal, writer > Human.books was=author, tags >> Tag.books,
            cover > Cover.book cascade
        Cover = colour String, book > Book.cover
        Tag = word String, books >> Book.tags
        Shelf = place Integer16, items >> Cover
        """

    private static let on = """
        Aardvark = ants Integer64
        Person = name String required =, age Integer32, born Date, photo Binary external,
            books >> Book.authors ordered, mentor > Person.pupils, pupils >> Person.mentor
        Editor (Person) = desk String
        Book = title String, pages Integer16, price Decimal, rating Integer16 required =3,
            authors >> Person.books was=author, tags >> Tag.books, cover > Cover.book cascade
        Cover = colour String, book > Book.cover
        Tag = word String, books >> Book.tags ordered
        Shelf = place Integer16, items >> Cover
        """
}

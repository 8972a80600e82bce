//
//  BothAuthor+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
#if canImport(Darwin)
import CoreData
#else
import MoultNSCoreData
#endif


extension BothAuthor {

#if canImport(Darwin)
    @nonobjc
#endif
    public class func fetchRequest() -> NSFetchRequest<BothAuthor> {
        return NSFetchRequest<BothAuthor>(entityName: "Author")
    }

#if canImport(Darwin)
    @NSManaged public var name: String?
    @NSManaged public var namesakes: [BothAuthor]?
    @NSManaged public var books: NSOrderedSet?
#else
    public var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
    public var namesakes: [BothAuthor]? {
        get { value(forKey: "namesakes") as? [BothAuthor] }
    }
    public var books: NSOrderedSet? {
        get { value(forKey: "books") as? NSOrderedSet }
        set { setValue(newValue, forKey: "books") }
    }
#endif

}

// MARK: Generated accessors for books
extension BothAuthor {

#if canImport(Darwin)
    @objc(insertObject:inBooksAtIndex:)
    @NSManaged public func insertIntoBooks(_ value: BothBook, at idx: Int)

    @objc(removeObjectFromBooksAtIndex:)
    @NSManaged public func removeFromBooks(at idx: Int)

    @objc(insertBooks:atIndexes:)
    @NSManaged public func insertIntoBooks(_ values: [BothBook], at indexes: NSIndexSet)

    @objc(removeBooksAtIndexes:)
    @NSManaged public func removeFromBooks(at indexes: NSIndexSet)

    @objc(replaceObjectInBooksAtIndex:withObject:)
    @NSManaged public func replaceBooks(at idx: Int, with value: BothBook)

    @objc(replaceBooksAtIndexes:withBooks:)
    @NSManaged public func replaceBooks(at indexes: NSIndexSet, with values: [BothBook])

    @objc(addBooksObject:)
    @NSManaged public func addToBooks(_ value: BothBook)

    @objc(removeBooksObject:)
    @NSManaged public func removeFromBooks(_ value: BothBook)

    @objc(addBooks:)
    @NSManaged public func addToBooks(_ values: NSOrderedSet)

    @objc(removeBooks:)
    @NSManaged public func removeFromBooks(_ values: NSOrderedSet)
#else
    public func insertIntoBooks(_ value: BothBook, at idx: Int) {
        mutableOrderedSetValue(forKey: "books").insert(value, at: idx)
    }

    public func removeFromBooks(at idx: Int) {
        mutableOrderedSetValue(forKey: "books").removeObject(at: idx)
    }

    public func insertIntoBooks(_ values: [BothBook], at indexes: NSIndexSet) {
        for (value, index) in zip(values, indexes) { mutableOrderedSetValue(forKey: "books").insert(value, at: index) }
    }

    public func removeFromBooks(at indexes: NSIndexSet) {
        for index in indexes.reversed() { mutableOrderedSetValue(forKey: "books").removeObject(at: index) }
    }

    public func replaceBooks(at idx: Int, with value: BothBook) {
        mutableOrderedSetValue(forKey: "books").removeObject(at: idx)
        mutableOrderedSetValue(forKey: "books").insert(value, at: idx)
    }

    public func replaceBooks(at indexes: NSIndexSet, with values: [BothBook]) {
        for (index, value) in zip(indexes, values) { replaceBooks(at: index, with: value) }
    }

    public func addToBooks(_ value: BothBook) {
        mutableOrderedSetValue(forKey: "books").add(value)
    }

    public func removeFromBooks(_ value: BothBook) {
        mutableOrderedSetValue(forKey: "books").remove(value)
    }

    public func addToBooks(_ values: NSOrderedSet) {
        for value in values.array { mutableOrderedSetValue(forKey: "books").add(value) }
    }

    public func removeFromBooks(_ values: NSOrderedSet) {
        for value in values.array { mutableOrderedSetValue(forKey: "books").remove(value) }
    }
#endif

}

extension BothAuthor : Identifiable {

}

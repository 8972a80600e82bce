//
//  OwnAuthor+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
import MoultCoreData


extension OwnAuthor {

    public class func fetchRequest() -> FetchRequest<OwnAuthor> {
        return FetchRequest<OwnAuthor>(entityName: "Author")
    }

    public var name: String? {
        get { self["name", as: String?.self] }
        set { self["name", as: String?.self] = newValue }
    }
    public var namesakes: [OwnAuthor] {
        get { self["namesakes"] as? [OwnAuthor] ?? [] }
    }
    public var books: [OwnBook] {
        get { self["books", as: [OwnBook].self] }
        set { self["books", as: [OwnBook].self] = newValue }
    }

}

// MARK: Generated accessors for books
extension OwnAuthor {

    public func insertIntoBooks(_ value: OwnBook, at idx: Int) {
        books.insert(value, at: idx)
    }

    public func removeFromBooks(at idx: Int) {
        books.remove(at: idx)
    }

    public func insertIntoBooks(_ values: [OwnBook], at indexes: IndexSet) {
        for (value, index) in zip(values, indexes) { books.insert(value, at: index) }
    }

    public func removeFromBooks(at indexes: IndexSet) {
        for index in indexes.reversed() { books.remove(at: index) }
    }

    public func replaceBooks(at idx: Int, with value: OwnBook) {
        books[idx] = value
    }

    public func replaceBooks(at indexes: IndexSet, with values: [OwnBook]) {
        for (index, value) in zip(indexes, values) { books[index] = value }
    }

    public func addToBooks(_ value: OwnBook) {
        books.append(value)
    }

    public func removeFromBooks(_ value: OwnBook) {
        books.removeAll { $0 == value }
    }

    public func addToBooks(_ values: [OwnBook]) {
        books += values
    }

    public func removeFromBooks(_ values: [OwnBook]) {
        books.removeAll { values.contains($0) }
    }

}


//
//  OwnTag+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
import MoultCoreData


extension OwnTag {

    public class func fetchRequest() -> FetchRequest<OwnTag> {
        return FetchRequest<OwnTag>(entityName: "Tag")
    }

    public var title: String? {
        get { self["title", as: String?.self] }
        set { self["title", as: String?.self] = newValue }
    }
    public var books: Set<OwnBook> {
        get { self["books", as: Set<OwnBook>.self] }
        set { self["books", as: Set<OwnBook>.self] = newValue }
    }

}

// MARK: Generated accessors for books
extension OwnTag {

    public func addToBooks(_ value: OwnBook) {
        books.insert(value)
    }

    public func removeFromBooks(_ value: OwnBook) {
        books.remove(value)
    }

    public func addToBooks(_ values: Set<OwnBook>) {
        books.formUnion(values)
    }

    public func removeFromBooks(_ values: Set<OwnBook>) {
        books.subtract(values)
    }

}


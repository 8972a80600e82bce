//
//  OwnEditor+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
import MoultCoreData


extension OwnEditor {

    public class func fetchRequest() -> FetchRequest<OwnEditor> {
        return FetchRequest<OwnEditor>(entityName: "Editor")
    }

    public var house: String? {
        get { self["house", as: String?.self] }
        set { self["house", as: String?.self] = newValue }
    }

}


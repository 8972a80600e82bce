//
//  OwnBook+CoreDataClass.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
import MoultCoreData

public class OwnBook: ManagedObject {

}

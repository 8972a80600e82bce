extension [UInt8] {
    /// The page size that the header of a database names (the SQLite file format, section 1.3.2); nil if it names none.
    package var databasePageSize: Int? {
        guard count >= 18 else { return nil }
        let number = Int(self[16]) << 8 | Int(self[17])
        let size = number == 1 ? 65_536 : number
        return size >= 512 && size & (size - 1) == 0 ? size : nil
    }
}

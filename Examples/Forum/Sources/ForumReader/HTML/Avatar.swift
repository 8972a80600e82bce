import Foundation

/// What becomes of the address of an avatar. Only pictures over https are shown.
enum Avatar: Equatable {
    case kept(URL)
    /// The address began with `http:`; the same picture is asked for over https.
    case upgraded(URL)
    /// Nothing to show: no host, another scheme, or no address at all.
    case dropped

    init(_ address: String) {
        let trimmed = address.trimmingCharacters(in: .whitespacesAndNewlines)
        guard var parts = URLComponents(string: trimmed), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased()
        else {
            self = .dropped
            return
        }
        parts.scheme = "https"
        guard let url = parts.url else {
            self = .dropped
            return
        }
        switch scheme {
        case "https": self = .kept(url)
        // A port that was meant for http has nobody who speaks https.
        case "http" where parts.port == nil || parts.port == 80:
            parts.port = nil
            self = parts.url.map(Avatar.upgraded) ?? .dropped
        default: self = .dropped
        }
    }

    /// The address to keep; nil where it goes.
    var url: URL? {
        switch self {
        case .kept(let url), .upgraded(let url): url
        case .dropped: nil
        }
    }
}

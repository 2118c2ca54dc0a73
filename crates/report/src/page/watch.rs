//! The page of `iopslab run --watch`: the report while its run is under way, with what goes on just now. One page that
//! asks nobody but the server that it comes from; answer and evidence are those of [`super::answer_and_evidence`].

use super::style::STYLE;

const WATCH_STYLE: &str = include_str!("watch.css");
const SCRIPT: &str = include_str!("watch.js");

/// What stands there before anything was heard; the script fills it in.
const BODY: &str = include_str!("watch.html");

/// The page, whose style and script have this nonce.
pub fn watch_page(nonce: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>iopslab, live</title>\n<style nonce=\"{nonce}\">\n{STYLE}{WATCH_STYLE}</style>\n</head>\n<body>\n\
         <noscript><p class=\"banner\">This page needs its script.</p></noscript>\n{BODY}\
         <script nonce=\"{nonce}\">\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_holds_to_its_policy() {
        let page = watch_page("n0nce");
        assert_eq!(page.matches("nonce=\"n0nce\"").count(), 2, "the style and the script");
        for refused in [" style=\"", " onclick=", " src=", "href=\"http", "@import", "url(http"] {
            assert!(!page.contains(refused), "{refused}");
        }
        assert!(page.contains("wrong more often than its intervals say"), "looking on and on costs confidence");
        let asked = SCRIPT.split("by('").skip(1).filter_map(|rest| rest.split('\'').next());
        let missing: Vec<&str> = asked.filter(|id| !BODY.contains(&format!("id=\"{id}\""))).collect();
        assert!(missing.is_empty(), "the script asks for {missing:?}");
    }
}

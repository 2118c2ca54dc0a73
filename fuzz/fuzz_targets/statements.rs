//! Any text is read as a file of CQL or refused with a reason at a place of it; neither panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statements::Script;

fuzz_target!(|text: &str| {
    match Script::parse(text, &["one", "quorum"]) {
        Ok(script) => {
            for statement in &script.statements {
                assert_eq!(&text[statement.span.clone()], statement.text);
                assert!(statement.cql("k").len() >= statement.text.len());
            }
            for statement in &script.schema {
                assert!(statement.cql("k").len() >= statement.text.len());
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                assert!(text.get(mistake.span.clone()).is_some() && !mistake.message.is_empty());
            }
        }
    }
});

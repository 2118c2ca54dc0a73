//! Any text is read as a file of CQL, as one of SQL, as a user profile of cassandra-stress, and as a statement of a
//! log, or refused with a reason at a place of it; none panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statements::{Logged, Script, parse_stress, stress_operations};

const LEVELS: &[&str] = &["one", "quorum"];

fn profile(text: &str) {
    let operations = match stress_operations(text) {
        Ok(operations) => operations,
        Err(mistake) => {
            assert!(text.get(mistake.span).is_some());
            return;
        }
    };
    let asked: Vec<&str> = operations.iter().map(String::as_str).collect();
    match parse_stress(text, &asked, Some(10), LEVELS) {
        Ok(profile) => {
            let mut spans = profile.script.statements.iter().map(|statement| statement.span.clone());
            assert!(spans.all(|span| text.get(span).is_some()));
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| text.get(mistake.span.clone()).is_some()));
        }
    }
}

fn sql(text: &str) {
    match Script::parse_sql(text) {
        Ok(script) => {
            for statement in &script.statements {
                assert_eq!(&text[statement.span.clone()], statement.text);
                assert!(statement.sql.as_ref().is_some_and(|sql| !sql.steps.is_empty()));
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| text.get(mistake.span.clone()).is_some()));
        }
    }
}

/// As a statement of a log.
fn logged(text: &str) {
    match Logged::of(text) {
        Ok(logged) => assert!(logged.text.matches('?').count() >= logged.markers.len()),
        Err(not) => assert!(!not.what.is_empty() && !not.why.is_empty()),
    }
}

fuzz_target!(|text: &str| {
    profile(text);
    sql(text);
    logged(text);
    match Script::parse(text, LEVELS) {
        Ok(script) => {
            for statement in &script.statements {
                assert_eq!(&text[statement.span.clone()], statement.text);
                assert!(statement.cql("k").len() >= statement.text.len());
            }
            for statement in &script.schema {
                assert!(statement.cql("k").len() >= statement.text.len());
            }
            // As if a server had written it down.
            let places = script.agreement(text).disagreements.into_iter().map(|mistake| mistake.span);
            places.for_each(|span| assert!(text.get(span).is_some()));
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                assert!(text.get(mistake.span.clone()).is_some() && !mistake.message.is_empty());
            }
        }
    }
});

//! Any text is read as an experiment or refused with mistakes; neither panics, and what is read can be planned.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read_file = |_: &str| Ok("recordcount=1000\nreadproportion=1\n".to_owned());
    let beside = experiment::ParseContext::files(&read_file);
    match experiment::parse(catalog::Catalog::built_in(), "fuzz.toml", text, &beside, experiment::ReadFor::Anybody) {
        Ok(experiment) => drop(experiment::plan(&experiment)),
        Err(mistakes) => assert!(!mistakes.to_string().is_empty()),
    }
});

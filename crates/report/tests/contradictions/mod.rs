//! Do the sentences of an answer contradict the document that they are made from? Reads them as a person would: whom
//! they say to run, which configuration they call worth its price, and every factor, amount, latency and number of
//! repetitions. Knows nothing of how they were worded, so that a wrong sentence cannot excuse itself.

use std::collections::BTreeSet;

use analysis::{
    Analysis, AnswerOutcome, BoundIs, Criterion, Doubt, Finding, GainAboveResource, Meets, Ratio, Status, ValueOfMoney,
    ValueVerdict, Verdict, Withheld,
};

/// Every contradiction, in words; empty where there is none. `sentences` are banner (if any), headline, and the others.
pub fn contradictions(analysis: &Analysis, sentences: &[String]) -> Vec<String> {
    let facts = Facts::of(analysis);
    let mut found = headline(analysis, sentences);
    found.extend(offered_and_condemned(analysis));
    for sentence in sentences {
        found.extend(verdicts(analysis, sentence));
        found.extend(told_settings(analysis, sentence));
        found.extend(blamed(analysis, sentence));
        found.extend(nothing_faster(analysis, sentence));
        found.extend(facts.numbers_of(sentence));
    }
    found
}

/// The headline says what the document says, and nothing else leads with a winner.
fn headline(analysis: &Analysis, sentences: &[String]) -> Vec<String> {
    let recommendation = &analysis.recommendation;
    let mut found = Vec::new();
    let is_simulated = analysis.provider == analysis::Provider::Simulated;
    let starts_simulated = sentences.first().is_some_and(|s| s.starts_with("SIMULATED"));
    if is_simulated != starts_simulated {
        found.push("the banner of simulated evidence is not where it must be".to_owned());
    }
    let Some(headline) = sentences.get(usize::from(starts_simulated)) else {
        return vec!["there is no headline".to_owned()];
    };
    let begins = match (&recommendation.run, recommendation.status) {
        (Some(run), Status::Decided) => match &recommendation.any_of {
            Some(any) => format!("Run {run}, with any of {} settings: ", any.configurations.len()),
            None => format!("Run {run}: "),
        },
        (None, Status::NotDecided) => "Not decided: ".to_owned(),
        (None, Status::NoAnswerYet) => "No answer yet: ".to_owned(),
        (run, status) => {
            found.push(format!("the document is {status:?} and says to run {run:?}"));
            return found;
        }
    };
    if !headline.starts_with(&begins) {
        found.push(format!("the headline does not begin with {begins:?}: {headline}"));
    }
    if sentences.iter().skip(1 + usize::from(starts_simulated)).any(|s| s.starts_with("Run ")) {
        found.push("a second sentence says what to run".to_owned());
    }
    let Some(run) = &recommendation.run else { return found };
    // A place that decides for it, and a step to it that the table condemns.
    for place in &recommendation.places {
        let AnswerOutcome::Run { configuration, .. } = &place.outcome else { continue };
        let steps = analysis.value_of_money.iter().filter(|s| {
            // Settings cost nothing, so that a step between them is no reason against their hardware.
            let is_free = recommendation.hardware.contains(&s.from);
            let is_here = s.workload == place.workload && Some(s.load) == place.load;
            configuration == run && s.to == *run && is_here && !is_free
        });
        for step in steps {
            let good =
                matches!(step.verdict, ValueVerdict::WorthIt | ValueVerdict::BreakEven) && step.withheld.is_none();
            if !good && place.by == analysis::DecidedBy::Value {
                found.push(format!("run {run} ({}), but its step is {:?}", place.workload, step.verdict));
            }
        }
    }
    found
}

/// `X is worth it`, `X is not worth it`, `X is dominated by Y`, ... stand in the table.
fn verdicts(analysis: &Analysis, sentence: &str) -> Vec<String> {
    let phrases = [
        ("is worth it:", ValueVerdict::WorthIt),
        ("is not worth it:", ValueVerdict::NotWorthIt),
        ("is dominated by", ValueVerdict::Dominated),
        ("gives the same throughput as", ValueVerdict::Same),
        ("is break-even", ValueVerdict::BreakEven),
        ("is worth it is not decided", ValueVerdict::NotDecided),
    ];
    let mut found = Vec::new();
    for configuration in &analysis.configurations {
        let name = &configuration.name;
        for (phrase, verdict) in phrases {
            let said = format!("{name} {phrase}");
            let is_whole = |at: usize| !sentence[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '.');
            if !sentence.match_indices(&said).any(|(at, _)| is_whole(at)) {
                continue;
            }
            let stands = |s: &&analysis::ValueOfMoney| s.to == *name && s.verdict == verdict && s.withheld.is_none();
            if !analysis.value_of_money.iter().any(|s| stands(&s)) {
                found.push(format!("no step says {verdict:?} of {name}: {sentence}"));
            }
        }
    }
    found
}

/// What may be run, or is chosen between, is not condemned by another of them.
fn offered_and_condemned(analysis: &Analysis) -> Vec<String> {
    let recommendation = &analysis.recommendation;
    let any = recommendation.any_of.iter().map(|any| (None, &any.configurations));
    let between = recommendation.places.iter().filter_map(|place| match &place.outcome {
        AnswerOutcome::Between { configurations, .. } => Some((Some(place), configurations)),
        _ => None,
    });
    let mut found = Vec::new();
    for (place, names) in any.chain(between) {
        let is_here = |s: &ValueOfMoney| place.is_none_or(|p| p.workload == s.workload && p.load == Some(s.load));
        // Beside one that may miss the objective it may be the one to run all the same.
        let may_miss = |name: &String| {
            let mut candidates = place.into_iter().flat_map(|p| &p.candidates);
            candidates.any(|c| c.configuration == *name && c.meets != Meets::Yes)
        };
        let is_condemned = |s: &&ValueOfMoney| {
            let verdict = matches!(s.verdict, ValueVerdict::Dominated | ValueVerdict::NotWorthIt);
            verdict && s.withheld.is_none() && !may_miss(&s.from)
        };
        let steps = analysis.value_of_money.iter().filter(|s| is_here(s));
        for step in steps.filter(is_condemned) {
            if names.contains(&step.to) && names.contains(&step.from) {
                let (to, from, verdict) = (&step.to, &step.from, step.verdict);
                found.push(format!("{names:?} are offered, but {to} is {verdict:?} beside {from}"));
            }
        }
    }
    found
}

/// Names of configurations in a text.
fn named(analysis: &Analysis, text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split([' ', ',', ':', ';', '.']).collect();
    analysis.configurations.iter().map(|c| c.name.clone()).filter(|name| words.contains(&name.as_str())).collect()
}

/// A reason to say nothing belongs to a configuration whose own evidence gives it.
fn blamed(analysis: &Analysis, sentence: &str) -> Vec<String> {
    type Is = fn(&Withheld) -> bool;
    let phrases: [(&str, Is); 4] = [
        ("burst credits carried ", |why| matches!(why, Withheld::Burst { .. } | Withheld::BurstOfBytes { .. })),
        ("memory answered the reads of ", |why| matches!(why, Withheld::PageCache)),
        ("the client was at its limit while it loaded ", |why| matches!(why, Withheld::Client)),
        ("records were missing or counters disagreed with ", |why| matches!(why, Withheld::Data)),
    ];
    let mut found = Vec::new();
    for (phrase, is) in phrases {
        for (at, _) in sentence.match_indices(phrase) {
            let rest = &sentence[at + phrase.len()..];
            let ends = [" (", ", not storage", ";", ". "].into_iter();
            let ends = ends.chain(phrases.iter().map(|(other, _)| *other));
            let end = ends.filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
            for name in named(analysis, &rest[..end]) {
                let mut own = analysis.cells.iter().filter(|c| c.configuration == name);
                if !own.any(|c| c.withheld.as_ref().is_some_and(is)) {
                    found.push(format!("{phrase}{name}: no cell of it says so: {sentence}"));
                }
            }
        }
    }
    found
}

/// Nothing is shown to be faster there, and no step says that something is.
fn nothing_faster(analysis: &Analysis, sentence: &str) -> Vec<String> {
    let start = "For no money, nothing that was tried is shown to be faster than ";
    let Some((head, _)) = sentence.strip_prefix(start).and_then(|s| s.split_once(": ")) else { return Vec::new() };
    let of = |s: &&analysis::FreeStep| head == s.from || head.starts_with(&format!("{} ", s.from));
    let shown = analysis.free_steps.iter().filter(of).filter(|s| s.throughput_ratio.verdict == Verdict::Faster);
    // A place is a workload, a load, or both; without any the sentence is about all of them.
    let is_here = |s: &&analysis::FreeStep| {
        let is_everywhere = head == s.from;
        is_everywhere || (analysis.workloads.len() > 1 && head.ends_with(&format!(" under {}", s.workload)))
    };
    let is_one_load = analysis.cells.iter().all(|c| c.load == analysis.cells[0].load);
    let contradicted = shown.filter(is_here).filter(|s| is_one_load || head == s.from);
    contradicted.map(|s| format!("{} is faster than {} under {}: {sentence}", s.to, s.from, s.workload)).collect()
}

/// Every number that a sentence may say.
struct Facts {
    /// Factors with their intervals.
    factors: Vec<(f64, f64, f64)>,
    /// What of a factor carries over, where this machine limited one side of it.
    bounds: Vec<(BoundIs, f64)>,
    /// Milliseconds.
    latencies: Vec<f64>,
    /// Dollars.
    money: Vec<f64>,
    /// Repetitions.
    repetitions: BTreeSet<u32>,
}

impl Facts {
    fn of(analysis: &Analysis) -> Self {
        let of_ratio = |r: &Ratio| (r.median, r.low, r.high);
        let steps = || analysis.value_of_money.iter();
        let ranked = || analysis.decision.iter().flat_map(|d| &d.ranking);
        let candidates = || analysis.recommendation.places.iter().flat_map(|p| &p.candidates);
        let of_cells = |c: &analysis::CellAnalysis| [c.ratio_to_baseline.clone(), c.ratio_to_slowest.clone()];
        let cells = analysis.cells.iter().flat_map(of_cells).flatten();
        let mut factors: Vec<(f64, f64, f64)> = steps().map(|s| of_ratio(&s.throughput_ratio)).collect();
        factors.extend(cells.filter(|r| r.verdict != Verdict::Reference).map(|r| of_ratio(&r)));
        factors.extend(steps().map(|s| (s.cost_ratio, s.cost_ratio, s.cost_ratio)));
        factors.extend(ranked().map(|r| (r.to_best, r.to_best, r.to_best)));
        let free = || analysis.free_steps.iter();
        factors.extend(free().map(|s| of_ratio(&s.throughput_ratio)));
        let elsewhere = free().flat_map(|s| &s.elsewhere).map(|s| s.after / s.before);
        factors.extend(elsewhere.map(|ratio| (ratio, ratio, ratio)));
        factors.extend(settings(analysis));
        for gain in analysis.findings.iter().filter_map(Finding::figures::<GainAboveResource>) {
            let ratio = gain.resource_ratio;
            factors.extend([(gain.gain, gain.gain_low, gain.gain_high), (ratio, ratio, ratio)]);
        }
        let doubts = analysis.recommendation.doubts.iter();
        let missed = doubts.filter_map(|doubt| match doubt {
            Doubt::ModelMisses { all, .. } => Some(all.iter().map(|of| (of.factor, of.factor, of.factor))),
            _ => None,
        });
        factors.extend(missed.flatten());
        let checks = candidates().flat_map(|c| &c.checks);
        let mut latencies: Vec<f64> = Vec::new();
        for check in checks {
            if let Criterion::Latency { limit_us, .. } = check.what {
                let measured = check.measured.iter().flat_map(|m| [m.median, m.low, m.high]);
                latencies.extend(measured.chain([limit_us]).map(|us| us / 1e3));
            }
        }
        latencies.extend(ranked().map(|r| r.value / 1e3));
        let mut money: Vec<f64> = steps().map(|s| s.extra_usd_per_month).collect();
        money.extend(candidates().filter_map(|c| Some(c.fleet?.usd_per_month)));
        let places = analysis.recommendation.places.iter();
        let of_place = places.filter_map(|p| match p.outcome {
            AnswerOutcome::Between { repetitions, .. } => repetitions,
            _ => None,
        });
        let repetitions = steps()
            .filter_map(|s| s.repetitions_to_decide)
            .chain(of_place)
            .chain(analysis.recommendation.would_decide.map(|w| w.repetitions))
            .collect();
        let of_cells = |c: &analysis::CellAnalysis| [c.ratio_to_baseline.clone(), c.ratio_to_slowest.clone()];
        let all = analysis.cells.iter().flat_map(of_cells).flatten();
        let all = all.chain(steps().map(|s| s.throughput_ratio.clone()));
        let all = all.chain(free().map(|s| s.throughput_ratio.clone()));
        let end = |ratio: Ratio| match ratio.bound?.is {
            BoundIs::AtLeast => Some((BoundIs::AtLeast, ratio.low)),
            BoundIs::AtMost => Some((BoundIs::AtMost, ratio.high)),
            BoundIs::Nothing => None,
        };
        Self { bounds: all.filter_map(end).collect(), factors, latencies, money, repetitions }
    }

    /// Numbers of a sentence that stand nowhere in the document.
    fn numbers_of(&self, sentence: &str) -> Vec<String> {
        let mut found = Vec::new();
        // The words of an earlier analysis, frozen when repeating stopped.
        if sentence.starts_with("Repeating stopped") {
            return found;
        }
        let words: Vec<&str> = sentence.split_whitespace().collect();
        for (i, pair) in words.windows(2).enumerate() {
            let [word, unit] = pair else { continue };
            let Some(value) = read(word) else { continue };
            let stands = match unit.trim_end_matches([',', '.', ';', ':', ')']) {
                "times" => {
                    let interval = interval(&words[i + 2..]);
                    let before = if i > 1 { &words[i - 2..i] } else { &[] };
                    let is_bound = |bound: BoundIs| self.bounds.iter().any(|(of, end)| *of == bound && is(value, *end));
                    if before == ["at", "least"] {
                        is_bound(BoundIs::AtLeast)
                    } else if before == ["at", "most"] && is_bound(BoundIs::AtMost) {
                        true
                    } else {
                        self.factors.iter().any(|(middle, low, high)| {
                            is(value, *middle) && interval.is_none_or(|(l, h)| is(l, *low) && is(h, *high))
                        })
                    }
                }
                "ms" => self.latencies.iter().any(|ms| is(value, *ms)),
                "repetitions" => self.repetitions.iter().any(|n| is(value, f64::from(*n))),
                "more" if word.trim_start_matches('(').starts_with('$') => {
                    self.money.iter().any(|usd| (value - usd).abs() < 0.006)
                }
                _ => true,
            };
            if !stands {
                found.push(format!("{word} {unit} stands nowhere in the document: {sentence}"));
            }
        }
        found
    }
}

/// Factors between settings of one hardware.
fn settings(analysis: &Analysis) -> Vec<(f64, f64, f64)> {
    let places = analysis.recommendation.places.iter();
    let of_places = places.filter_map(|p| match &p.outcome {
        AnswerOutcome::Run { settings, .. } => settings.as_ref(),
        _ => None,
    });
    let worse = of_places.flat_map(|s| s.worse.iter().filter_map(|w| w.throughput_ratio.as_ref()));
    let apart = analysis.recommendation.any_of.iter().filter_map(|any| any.apart);
    let worse = worse.map(|r| (r.median, r.low, r.high));
    worse.chain(apart.map(|apart| (apart, apart, apart))).collect()
}

/// Which configurations a sentence says to run, or not to: `any` must be distinguished from none, `Not` be shown to be
/// slower than one.
fn told_settings(analysis: &Analysis, sentence: &str) -> Vec<String> {
    let mut found = Vec::new();
    let named = |text: &str| named(analysis, text);
    let differ = |one: &str, other: &str, is: &dyn Fn(&Ratio) -> bool| {
        let mut ratios = analysis.cells.iter().filter(|c| c.configuration == one).flat_map(|c| {
            let both = [c.ratio_to_baseline.as_ref(), c.ratio_to_slowest.as_ref()];
            both.into_iter().flatten().filter(|r| r.to == other).collect::<Vec<_>>()
        });
        ratios.any(is)
    };
    if let Some(any) = sentence.strip_prefix("Settings, which cost nothing: ") {
        let all = named(any);
        if analysis.recommendation.any_of.as_ref().map(|any| &any.configurations) != Some(&all) {
            found.push(format!("any of {all:?} is not what the document says: {sentence}"));
        }
        let is_shown = |r: &Ratio| matches!(r.verdict, Verdict::Faster | Verdict::Slower);
        for one in &all {
            for other in all.iter().filter(|other| differ(one, other, &is_shown)) {
                found.push(format!("{one} and {other} are said to differ: {sentence}"));
            }
        }
    }
    if let Some((names, _)) = sentence.strip_prefix("Not ").and_then(|s| s.split_once(", shown to be slower")) {
        let run: Vec<&String> = analysis.recommendation.run.iter().collect();
        let any = analysis.recommendation.any_of.iter().flat_map(|any| &any.configurations);
        let run: Vec<&String> = run.into_iter().chain(any).collect();
        for name in named(names).iter().filter(|name| run.contains(name)) {
            found.push(format!("{name} may be run and may not: {sentence}"));
        }
    }
    found
}

/// A number as it is written in sentences: `1,230`, `(9.80`, `$15.00`.
fn read(word: &str) -> Option<f64> {
    let digits: String =
        word.trim_start_matches(['(', '$']).trim_end_matches([',', '.', ';', ':', ')']).replace(',', "");
    digits.parse().ok().filter(|v: &f64| v.is_finite())
}

/// `(1.80 to 2.05)` or `(1.80 to 2.05 observed)` at the start of what follows.
fn interval(words: &[&str]) -> Option<(f64, f64)> {
    match words {
        [low, "to", high, ..] if low.starts_with('(') => Some((read(low)?, read(high)?)),
        _ => None,
    }
}

/// Equal to three significant digits.
fn is(said: f64, true_value: f64) -> bool {
    if said == 0.0 || true_value == 0.0 {
        return said == true_value;
    }
    let unit = 10_f64.powi(true_value.abs().log10().floor() as i32 - 2);
    (said - true_value).abs() <= unit * 0.501
}

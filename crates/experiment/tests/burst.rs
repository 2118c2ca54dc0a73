//! What a burstable volume sustains is measured, unless the file says otherwise.

use crate::story;
use crate::story::{accepted, and, each_refused, notes, refused, with};
use experiment::{BurstStart, Experiment, setups};

const MIB: f64 = 1_048_576.0;

fn start(experiment: &Experiment) -> Option<BurstStart> {
    setups(experiment)[0].data.burst_start()
}

fn volume(more: &str) -> String {
    with("size_gib = 320 }", &format!("size_gib = 320{more} }}"))
}

#[test]
fn a_bucket_starts_empty_unless_stated() {
    let experiment = accepted(story::GOOD);
    assert_eq!(start(&experiment), Some(BurstStart::Baseline));
    let data = &setups(&experiment)[0].data;
    assert_eq!(data.burst.unwrap().credits_start, 0.0);
    assert_eq!(data.burst_lasts_s(), None);
}

/// 960 IOPS at 256 KiB are 240 MiB/s; 250 are for a bucket with credits.
#[test]
fn an_empty_bucket_gives_the_bytes_that_last() {
    let bytes = |text: &str| setups(&accepted(text))[0].data.limits.read_bytes_per_s.unwrap() / MIB;
    assert_eq!(bytes(story::GOOD), 240.0);
    assert_eq!(bytes(&volume(", burst = \"full\"")), 250.0);
}

#[test]
fn a_full_bucket_is_a_choice_with_its_duration() {
    for text in [and("[provider.local]\nburst = \"full\"\n"), volume(", burst = \"full\"")] {
        let experiment = accepted(&text);
        assert_eq!(start(&experiment), Some(BurstStart::Full));
        // 5.4 million credits at 3,000 - 960 a second: 44 minutes.
        let lasts = setups(&experiment)[0].data.burst_lasts_s().unwrap();
        assert!((lasts - 5.4e6 / 2040.0).abs() < 1e-6, "{lasts}");
    }
}

#[test]
fn a_volume_speaks_for_itself() {
    let text = format!("{}[provider.local]\nburst = \"full\"\n", volume(", burst = \"baseline\""));
    assert_eq!(start(&accepted(&text)), Some(BurstStart::Baseline));
}

#[test]
fn a_commit_log_has_a_bucket_of_its_own() {
    let text = with(
        "size_gib = 320 }",
        "size_gib = 320 }\ncommitlog_volume = { type = \"gp2\", size_gib = 50, burst = \"full\" }",
    );
    let setup = &setups(&accepted(&text))[0];
    assert_eq!(setup.data.burst_start(), Some(BurstStart::Baseline));
    assert_eq!(setup.commitlog.as_ref().unwrap().burst_start(), Some(BurstStart::Full));
}

#[test]
fn a_stated_share_still_counts() {
    let experiment = accepted(&and("[provider.local]\nburst_credits_start = 0.25\n"));
    assert_eq!(start(&experiment), Some(BurstStart::Share(0.25)));
    assert_eq!(setups(&experiment)[0].data.burst.unwrap().credits_start, 0.25 * 5.4e6);
}

/// The instance lets the baseline through and no more: nothing bursts, so nothing starts.
#[test]
fn a_bucket_behind_a_narrow_instance_does_not_matter() {
    let mut setup = setups(&accepted(story::GOOD))[0].data.clone();
    setup.burst = setup.burst.map(|b| experiment::Burst { burst_iops: b.baseline_iops, ..b });
    assert_eq!((setup.burst_start(), setup.burst_lasts_s()), (None, None));
}

#[test]
fn wrong_starts_are_refused_with_the_reason() {
    let cases = [
        (
            and("[provider.local]\nburst = \"ful\"\n"),
            "x.toml:19:9: burst cannot be `ful` (did you mean `full`? valid: baseline, full)",
        ),
        (volume(", burst = \"sustained\""), "x.toml:9:56: burst cannot be `sustained` (valid: baseline, full)"),
        (
            and("[provider.local]\nburst = \"full\"\nburst_credits_start = 1.0\n"),
            "x.toml:20:23: contradicts burst: burst and burst_credits_start both say how buckets start (remove one \
             of them",
        ),
        (
            and("[provider.local]\nburst_credits_start = 1.0\nburst = \"full\"\n"),
            "x.toml:20:9: contradicts burst_credits_start",
        ),
        (
            with("size_gib = 320 }", "size_gib = 1000, burst = \"full\" }"),
            "x.toml:9:48: gp2 1000 GiB has no burst bucket: with this size it does 3000 IOPS at all times (remove \
             `burst`)",
        ),
        (
            with(
                "{ type = \"gp2\", size_gib = 320 }",
                "{ type = \"io1\", size_gib = 100, iops = 1000, burst = \"full\" }",
            ),
            "has no burst bucket: it does what was bought at all times",
        ),
        (
            with("{ type = \"gp2\", size_gib = 320 }", "{ type = \"st1\", size_gib = 1024, burst = \"baseline\" }"),
            "has no burst bucket: throttled, it has the 40 MiB/s that last (set volumes = \"served\" in \
             [provider.local], or remove `burst`)",
        ),
        (
            with("{ type = \"gp2\", size_gib = 320 }", "{ iops = 960, burst = \"full\" }"),
            "x.toml:9:29: a volume given by its limits has no burst bucket",
        ),
    ];
    each_refused(&cases);
}

const MIB_OF_A_TIB: f64 = 1024.0 * 1024.0;

/// st1 of 1 TiB: 40 MiB/s that last, 250 while there are credits, a TiB of them. Served it has that bucket; throttled
/// the throughput that lasts.
#[test]
fn served_hard_disks_have_buckets_of_bytes() {
    let st1 = |burst: &str, volumes: &str| {
        let volume = format!("{{ type = \"st1\", size_gib = 1024{burst} }}");
        let text = with("{ type = \"gp2\", size_gib = 320 }", &volume);
        let text = format!("{text}[provider.local]\nvolumes = \"{volumes}\"\nscale = 4\n");
        setups(&accepted(&text))[0].data.clone()
    };
    let throttled = st1("", "throttled");
    assert_eq!((throttled.byte_burst, throttled.burst_start()), (None, None));
    assert_eq!(throttled.limits.read_bytes_per_s, Some(10.0 * MIB));
    let served = st1("", "served");
    let bucket = served.byte_burst.unwrap();
    assert_eq!(served.limits.read_bytes_per_s, Some(62.5 * MIB), "while credits last");
    assert_eq!(bucket.baseline_bytes_per_s, 10.0 * MIB);
    assert_eq!((bucket.credits_start, served.burst_start()), (0.0, Some(BurstStart::Baseline)));
    let full = st1(", burst = \"full\"", "served");
    assert_eq!(full.burst_start(), Some(BurstStart::Full));
    let lasts = full.burst_lasts_s().unwrap();
    assert!((lasts - MIB_OF_A_TIB / 210.0).abs() < 1e-6, "the same at every scale: {lasts}");
}

#[test]
fn a_start_that_no_volume_takes_up_is_reported() {
    let text =
        format!("{}[provider.local]\nburst = \"full\"\n", with("{ type = \"gp2\", size_gib = 320 }", "{ iops = 960 }"));
    let reported = notes(&accepted(&text), "key_without_effect", None);
    assert!(reported.iter().any(|n| n.contains("[provider.local] burst has no effect")), "{reported:?}");
    let taken = accepted(&and("[provider.local]\nburst = \"full\"\n"));
    assert_eq!(notes(&taken, "key_without_effect", None), Vec::<String>::new());
    // A contradiction is no note.
    assert_eq!(refused(&and("[provider.local]\nburst = 1\n")).list().len(), 1);
}

/// How volumes are emulated is a choice of the experiment; a setup says what a served one is besides its limits.
#[test]
fn volumes_are_throttled_unless_they_are_to_be_served() {
    let setup = |local: &str| {
        let experiment = accepted(&and(local));
        experiment::setups(&experiment).first().unwrap().clone()
    };
    assert_eq!(setup("").data.served, None);
    assert_eq!(setup("[provider.local]\nvolumes = \"throttled\"\n").data.served, None);
    let served = setup("[provider.local]\nvolumes = \"served\"\nscale = 4\n").data.served.unwrap();
    let gp2 = catalog::latency_of(Some(catalog::VolumeType::Gp2)).latency;
    assert_eq!(served.latency, Some(gp2), "one request takes as long at every scale");
    assert!(!served.is_hard_disk);
}

#[test]
fn an_unknown_way_to_emulate_volumes_is_refused_at_its_place() {
    let reported = refused(&and("[provider.local]\nvolumes = \"serve\"\n")).to_string();
    assert!(
        reported.contains("volumes cannot be `serve` (did you mean `served`? valid: throttled, served)"),
        "{reported}"
    );
}

//! Where data sets are kept: what may be stated, and what is refused with its reason.

use crate::story;
use crate::story::{accepted, notes, read, refused, with};
use experiment::{DataSetPlace, DataSetStore, Provider, ReadFor};

fn stated(store: &str) -> String {
    with("records = 1000", &format!("records = 1000\n[dataset.store]\n{store}"))
}

#[test]
fn a_bucket_or_a_directory_may_hold_data_sets() {
    let of = |store: &str| accepted(&stated(store)).data_set_store.unwrap();
    let bucket = of("at = \"s3://our-data/lab/sets/\"\nregion = \"eu-central-1\"\nprofile = \"lab\"\nkeep = true");
    assert_eq!(bucket.place.to_string(), "s3://our-data/lab/sets");
    let place = DataSetPlace::S3 {
        bucket: "our-data".to_owned(),
        prefix: "lab/sets".to_owned(),
        region: "eu-central-1".to_owned(),
        profile: Some("lab".to_owned()),
    };
    assert_eq!(bucket, DataSetStore { place, keep: true });
    let whole = of("at = \"s3://our-data\"\nregion = \"eu-central-1\"");
    assert_eq!(whole.place.to_string(), "s3://our-data");
    let directory = of("at = \"/mnt/data-sets/\"");
    assert_eq!(directory.place.to_string(), "/mnt/data-sets");
    assert!(!directory.keep, "nothing is written to a store unless that is said");
    assert_eq!(accepted(story::GOOD).data_set_store, None);
    // The plan is what a resumed run has.
    let plan = experiment::plan(&accepted(&stated("at = \"/mnt/data-sets\"")));
    assert_eq!(plan.data_set_store.unwrap().place.to_string(), "/mnt/data-sets");
}

#[test]
fn what_cannot_be_a_store_is_refused_at_its_place() {
    for (store, part) in [
        ("at = \"data-sets\"", "`data-sets` is neither a bucket nor an absolute directory"),
        ("at = \"gs://bucket\"", "`gs://bucket` is neither a bucket nor an absolute directory"),
        ("keep = true", "the key `at` is missing"),
        ("at = \"s3://our-data/lab\"", "a bucket needs its region"),
        ("at = \"s3://Our_Data\"\nregion = \"r\"", "`s3://Our_Data` is no bucket with a prefix"),
        ("at = \"s3://our-data/../x\"\nregion = \"r\"", "`s3://our-data/../x` is no bucket with a prefix"),
        ("at = \"s3://our-data/a b\"\nregion = \"r\"", "`s3://our-data/a b` is no bucket with a prefix"),
        ("at = \"s3://our-data\"\nregion = \"eu central\"", "region cannot be `eu central`"),
        ("at = \"s3://our-data\"\nregion = \"r\"\nprofile = \"\"", "profile cannot be ``"),
        ("at = \"/mnt\"\nregion = \"r\"", "a directory has no region"),
        ("at = \"/mnt\"\nprofile = \"p\"", "a directory has no profile"),
        ("at = \"/mnt\"\nkept = true", "unknown key `kept` (did you mean `keep`?"),
        ("at = \"/mnt\"\nkeep = \"yes\"", "keep"),
    ] {
        let said = refused(&stated(store)).to_string();
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
}

#[test]
fn nothing_is_restored_into_a_cluster_that_exists_and_a_simulation_has_nothing_to_restore() {
    let store = stated("at = \"/mnt/data-sets\"");
    let existing = format!("{store}\n[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"lab\"\n");
    let said = refused(&existing).to_string();
    assert!(said.contains("a data set is not restored into a cluster that exists"), "{said}");

    let reported = notes(&accepted(&store), "key_without_effect", Some(Provider::Simulated));
    assert!(reported.iter().any(|note| note.contains("[dataset.store]")), "{reported:?}");
    assert!(notes(&accepted(&store), "key_without_effect", Some(Provider::Local)).is_empty());
    let simulated = read(&store, ReadFor::PlanOf(Provider::Simulated)).unwrap();
    assert_eq!(simulated.data_set_store, None);
}

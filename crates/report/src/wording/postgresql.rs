//! What PostgreSQL did beside its work, in words.

use analysis::rules::postgresql::checkpoints_requested::CheckpointsRequested;

use super::amounts::Words;

pub fn checkpoints_requested(of: &CheckpointsRequested) -> Words {
    (
        format!(
            "{:.0} checkpoints were requested, as PostgreSQL does when the WAL has reached max_wal_size: one every \
             {:.0} s, and its own log warns below {:.0} s.",
            of.checkpoints_requested, of.every_s, of.threshold_s
        ),
        "After each of them the first change of a page is logged whole: writes cost what they cost with so many \
         checkpoints. Compare with num_requested of pg_stat_checkpointer in production, or raise max_wal_size, which \
         settings.postgresql may state where iopslab starts the server.",
    )
}

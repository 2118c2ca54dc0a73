//! Records of a data set, taken in by COPY: those that wait at the same time go together.

use std::cell::{Cell, RefCell};

use engine::ErrorKind;
use tokio::sync::oneshot;
use tokio_postgres::types::ToSql;

use super::pool::Pool;
use super::statements::{Asked, copied_row};

/// A record that waits, and who waits for it.
struct Waiting {
    key: String,
    values: Vec<String>,
    answer: oneshot::Sender<Result<(), ErrorKind>>,
}

/// Records of one load thread that wait to be taken in.
#[derive(Default)]
pub(super) struct Copying {
    waiting: RefCell<Vec<Waiting>>,
    /// Whether somebody sends what waits.
    is_sending: Cell<bool>,
}

impl Copying {
    /// Writes a record. Whoever finds nobody sending sends what has come together, again and again, until nothing
    /// waits: one of the writers is at that as long as the load lasts.
    pub async fn insert(&self, pool: &Pool, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        let (answer, answered) = oneshot::channel();
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        self.waiting.borrow_mut().push(Waiting { key: key.to_owned(), values, answer });
        if !self.is_sending.replace(true) {
            // Others that are made in the same turn come along.
            tokio::task::yield_now().await;
            loop {
                let batch = std::mem::take(&mut *self.waiting.borrow_mut());
                if batch.is_empty() {
                    break;
                }
                send(pool, batch).await;
            }
            self.is_sending.set(false);
        }
        answered.await.unwrap_or(Err(ErrorKind::Connection))
    }
}

/// Takes records in together; where that is refused each by itself: one that is written again, because the answer to
/// its first attempt was lost, is there already.
async fn send(pool: &Pool, batch: Vec<Waiting>) {
    let mut rows = String::new();
    for record in &batch {
        copied_row(&record.key, record.values.iter().map(String::as_str), &mut rows);
    }
    let together = pool.copy(rows).await;
    for Waiting { key, values, answer } in batch {
        let result = match together {
            Err(ErrorKind::Other) => {
                let all: Vec<&(dyn ToSql + Sync)> =
                    std::iter::once(&key).chain(&values).map(|text| text as &(dyn ToSql + Sync)).collect();
                pool.ask(Asked::Insert, &all).await.map(drop)
            }
            other => other,
        };
        // Whoever waited may have been called off.
        let _ = answer.send(result);
    }
}

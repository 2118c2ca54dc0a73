//! Rows of a data set, taken in by COPY: those that wait at the same time go together.

use std::cell::{Cell, RefCell};

use engine::ErrorKind;
use tokio::sync::oneshot;

/// What becomes of a row.
type Taken = Result<(), ErrorKind>;

/// Rows of one load thread that wait to be taken in.
pub(super) struct Copying<R> {
    waiting: RefCell<Vec<(R, oneshot::Sender<Taken>)>>,
    /// Whether somebody sends what waits.
    is_sending: Cell<bool>,
}

impl<R> Default for Copying<R> {
    fn default() -> Self {
        Self { waiting: RefCell::default(), is_sending: Cell::new(false) }
    }
}

impl<R> Copying<R> {
    /// Has a row taken in by `send`, which says of each row that it is given what became of it. Whoever finds nobody
    /// sending sends what has come together, again and again, until nothing waits: one of the writers is at that as
    /// long as the load lasts.
    pub async fn insert(&self, row: R, send: impl AsyncFn(Vec<R>) -> Vec<Taken>) -> Taken {
        let (answer, answered) = oneshot::channel();
        self.waiting.borrow_mut().push((row, answer));
        if !self.is_sending.replace(true) {
            // Others that are made in the same turn come along.
            tokio::task::yield_now().await;
            loop {
                let batch = std::mem::take(&mut *self.waiting.borrow_mut());
                if batch.is_empty() {
                    break;
                }
                let (rows, answers): (Vec<R>, Vec<oneshot::Sender<Taken>>) = batch.into_iter().unzip();
                for (answer, taken) in answers.into_iter().zip(send(rows).await) {
                    // Whoever waited may have been called off.
                    let _ = answer.send(taken);
                }
            }
            self.is_sending.set(false);
        }
        answered.await.unwrap_or(Err(ErrorKind::Connection))
    }
}

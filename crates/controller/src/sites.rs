//! Several sites at work: each goes through its batches of machines, one after the other, side by side with the others.
//!
//! Where a site has no room for a batch just now, the batch goes to another site; where none has, it waits, longer each
//! time, up to a bound.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::run_failure::{Failure, Next, Result};
use crate::progress::Screen;

/// The first wait where no site has room; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// Between two looks at whether the user wants an end.
const LOOK: Duration = Duration::from_millis(200);

/// What the sites have to do.
pub struct Work<'a> {
    /// The site that each batch is planned for.
    pub planned: &'a [usize],
    /// Names of the sites.
    pub sites: &'a [String],
    /// How long a batch that no site has room for may wait, all in all.
    pub patience: Duration,
    /// Whether a batch may stand at a site.
    pub may_stand: &'a (dyn Fn(usize, usize) -> bool + Sync),
    /// Measures a batch at a site. One that has no room for it ([`Next::BatchWaits`]) has nothing left of its machines.
    pub carry_out: &'a (dyn Fn(usize, usize, &Screen) -> Result<()> + Sync),
    /// Whether the user wants an end.
    pub is_called_off: &'a (dyn Fn() -> bool + Sync),
}

/// A batch that is to be measured.
struct Waiting {
    batch: usize,
    site: usize,
    /// Sites that had no room for it since it last waited.
    tried: BTreeSet<usize>,
    not_before: Instant,
    next_wait: Duration,
    waited: Duration,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    busy: usize,
    /// Sites at which something failed: nothing more is begun there.
    out_of_work: BTreeSet<usize>,
    failures: Vec<Failure>,
}

/// Goes on until all batches are done or nothing more can be; each site has a screen of its own. The failures of sites
/// and of batches that nobody had room for.
pub fn work_through(work: &Work<'_>, screens: &[Screen]) -> Vec<Failure> {
    let waiting = work.planned.iter().enumerate().map(|(batch, site)| Waiting {
        batch,
        site: *site,
        tried: BTreeSet::new(),
        not_before: Instant::now(),
        next_wait: FIRST_WAIT,
        waited: Duration::ZERO,
    });
    let queue = Mutex::new(Queue { waiting: waiting.collect(), ..Queue::default() });
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for (site, screen) in screens.iter().enumerate() {
            let at_work = Site { site, work, queue: &queue, changed: &changed };
            scope.spawn(move || at_work.work(screen));
        }
    });
    queue.into_inner().unwrap_or_else(PoisonError::into_inner).failures
}

struct Site<'a> {
    site: usize,
    work: &'a Work<'a>,
    queue: &'a Mutex<Queue>,
    changed: &'a Condvar,
}

impl Site<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, screen: &Screen) {
        while let Some(next) = self.next() {
            let outcome = (self.work.carry_out)(next.batch, self.site, screen);
            let mut queue = self.queue();
            queue.busy -= 1;
            match outcome {
                Ok(()) => {}
                Err(failure) if failure.next() == Next::BatchWaits => {
                    match self.elsewhere_or_later(&queue, next, screen) {
                        Some(again) => queue.waiting.push(again),
                        None => queue.failures.push(failure),
                    }
                }
                Err(failure) => {
                    queue.failures.push(failure);
                    queue.out_of_work.insert(self.site);
                    queue.waiting.retain(|waiting| waiting.site != self.site);
                }
            }
            drop(queue);
            self.changed.notify_all();
        }
        self.changed.notify_all();
    }

    /// The next batch for this site; `None` once none can come any more.
    fn next(&self) -> Option<Waiting> {
        let mut queue = self.queue();
        loop {
            if (self.work.is_called_off)() || queue.out_of_work.contains(&self.site) {
                return None;
            }
            let now = Instant::now();
            let is_next = |waiting: &Waiting| waiting.site == self.site && waiting.not_before <= now;
            if let Some(place) = queue.waiting.iter().position(is_next) {
                queue.busy += 1;
                return Some(queue.waiting.remove(place));
            }
            if queue.waiting.is_empty() && queue.busy == 0 {
                return None;
            }
            let (guard, _) = self.changed.wait_timeout(queue, LOOK).unwrap_or_else(PoisonError::into_inner);
            queue = guard;
        }
    }

    /// A batch that this site had no room for goes to another site, or waits for its own.
    fn elsewhere_or_later(&self, queue: &Queue, mut batch: Waiting, screen: &Screen) -> Option<Waiting> {
        let names = self.work.sites;
        batch.tried.insert(self.site);
        let is_other = |site: &usize| {
            let is_open = !batch.tried.contains(site) && !queue.out_of_work.contains(site);
            is_open && (self.work.may_stand)(batch.batch, *site)
        };
        if let Some(other) = (0..names.len()).find(is_other) {
            screen.say(&format!("batch {} goes to {}", batch.batch + 1, names[other]));
            batch.site = other;
            return Some(batch);
        }
        let wait = batch.next_wait.min(self.work.patience.saturating_sub(batch.waited));
        if wait.is_zero() {
            return None;
        }
        screen.say(&format!(
            "batch {}: no site has room for it; the next attempt in {} s",
            batch.batch + 1,
            wait.as_secs()
        ));
        let first = self.work.planned[batch.batch];
        batch.site = if queue.out_of_work.contains(&first) { self.site } else { first };
        batch.tried.clear();
        (batch.not_before, batch.waited) = (Instant::now() + wait, batch.waited + wait);
        batch.next_wait *= 2;
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// What was carried out: batch and site, in the order in which it began.
    fn carried_out(
        planned: &[usize],
        sites: usize,
        patience: Duration,
        outcome: &(dyn Fn(usize, usize) -> Result<()> + Sync),
    ) -> (Vec<(usize, usize)>, Vec<String>) {
        let seen = Mutex::new(Vec::new());
        let names: Vec<String> = (0..sites).map(|site| format!("site {site}")).collect();
        let screens: Vec<Screen> = names.iter().map(|_| Screen::new(None)).collect();
        let carry_out = |batch: usize, site: usize, _: &Screen| {
            seen.lock().unwrap().push((batch, site));
            outcome(batch, site)
        };
        let work = Work {
            planned,
            sites: &names,
            patience,
            may_stand: &|batch, site| batch != 3 || site != 1,
            carry_out: &carry_out,
            is_called_off: &|| false,
        };
        let failures = work_through(&work, &screens);
        let failures = failures.iter().map(Failure::message).collect();
        (seen.into_inner().unwrap(), failures)
    }

    fn of_site(seen: &[(usize, usize)], site: usize) -> Vec<usize> {
        let its = seen.iter().filter(|(_, at)| *at == site);
        its.map(|(batch, _)| *batch).collect()
    }

    #[test]
    fn each_site_does_its_batches_in_turn_and_all_sites_at_the_same_time() {
        let at_work = AtomicUsize::new(0);
        let together = AtomicUsize::new(0);
        let (seen, failures) = carried_out(&[0, 1, 0, 1], 2, Duration::ZERO, &|_, _| {
            let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
            together.fetch_max(now, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(300));
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        });
        assert_eq!((of_site(&seen, 0), of_site(&seen, 1)), (vec![0, 2], vec![1, 3]));
        assert_eq!((together.into_inner(), failures.len()), (2, 0));
    }

    #[test]
    fn what_one_site_has_no_room_for_goes_to_one_that_may_have_it() {
        // Site 0 has no room for anything; batch 3 must not stand at site 1.
        let full = |_: usize, site: usize| match site {
            0 => Err(Failure::NoRoom("InsufficientInstanceCapacity".to_owned())),
            _ => Ok(()),
        };
        let (seen, failures) = carried_out(&[0, 1, 1, 0], 3, Duration::ZERO, &full);
        let at = |batch: usize| seen.iter().filter(|(b, _)| *b == batch).map(|(_, s)| *s).collect::<Vec<_>>();
        assert_eq!((at(0), at(3)), (vec![0, 1], vec![0, 2]));
        assert!(failures.is_empty(), "{failures:?}");
    }

    #[test]
    fn where_no_site_has_room_a_batch_waits_for_so_long_and_no_longer() {
        let asked = AtomicUsize::new(0);
        let never = |_: usize, _: usize| {
            asked.fetch_add(1, Ordering::SeqCst);
            Err(Failure::NoRoom("InsufficientInstanceCapacity".to_owned()))
        };
        let (_, failures) = carried_out(&[0], 2, Duration::from_millis(300), &never);
        assert_eq!((asked.into_inner(), failures.len()), (4, 1), "both sites, and both again after the wait");
        assert!(failures[0].contains("InsufficientInstanceCapacity"));
        let later = AtomicUsize::new(0);
        let then = |_: usize, _: usize| match later.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Failure::NoRoom("full".to_owned())),
            _ => Ok(()),
        };
        let (seen, failures) = carried_out(&[0], 1, Duration::from_millis(300), &then);
        assert_eq!((seen.len(), failures.len()), (2, 0));
    }

    #[test]
    fn a_site_that_fails_begins_nothing_more_and_the_others_go_on() {
        let (seen, failures) = carried_out(&[0, 0, 1, 1], 2, Duration::ZERO, &|batch, _| match batch {
            0 => Err(Failure::work("ExpiredToken")),
            _ => Ok(()),
        });
        assert_eq!((of_site(&seen, 0), of_site(&seen, 1)), (vec![0], vec![2, 3]));
        assert_eq!(failures.len(), 1);
    }
}

//! The buckets that a request has to pass.

use crate::bucket::Bucket;
use crate::model::{Direction, Model};

/// Seconds of a limit that are saved while nobody asks. Whoever asks for one thing after the other comes a little late
/// each time, and would lose that for ever: with 5 ms, writes one at a time were 19 % slow; with 20 ms they were not.
pub(crate) const WINDOW_S: f64 = 0.020;

/// Which of a request's amounts a bucket counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Counts {
    Requests,
    Bytes,
}

#[derive(Debug, Clone)]
struct Lane {
    counts: Counts,
    /// `None`: both.
    direction: Option<Direction>,
    bucket: Bucket,
    /// Whether these are a type's credits.
    is_credits: bool,
}

/// All buckets of a model.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    lanes: Vec<Lane>,
}

impl Gate {
    pub fn new(model: &Model, now: f64) -> Self {
        let mut gate = Self { lanes: Vec::new() };
        let limits = &model.limits;
        gate.pair(Counts::Requests, limits.read_iops, limits.write_iops, model, now);
        gate.pair(Counts::Bytes, limits.read_bytes_per_s, limits.write_bytes_per_s, model, now);
        if let Some(burst) = model.burst.filter(|b| b.burst_iops > b.baseline_iops) {
            gate.lane(Counts::Requests, None, burst.burst_iops, now);
            let (most, start) = (burst.credits_max, burst.credits_start);
            gate.credits(Counts::Requests, burst.baseline_iops, most, start, now);
        } else if let Some(burst) = model.burst {
            gate.lane(Counts::Requests, None, burst.baseline_iops, now);
        }
        if let Some(burst) = model.byte_burst {
            gate.lane(Counts::Bytes, None, burst.burst_bytes_per_s.max(burst.baseline_bytes_per_s), now);
            let (most, start) = (burst.credits_max, burst.credits_start);
            gate.credits(Counts::Bytes, burst.baseline_bytes_per_s, most, start, now);
        }
        gate
    }

    fn pair(&mut self, counts: Counts, read: Option<f64>, write: Option<f64>, model: &Model, now: f64) {
        match (read, write) {
            (Some(read), Some(write)) if model.together && read == write => self.lane(counts, None, read, now),
            _ => {
                for (direction, rate) in [(Direction::Read, read), (Direction::Write, write)] {
                    if let Some(rate) = rate {
                        self.lane(counts, Some(direction), rate, now);
                    }
                }
            }
        }
    }

    fn lane(&mut self, counts: Counts, direction: Option<Direction>, rate: f64, now: f64) {
        let depth = rate * WINDOW_S;
        self.lanes.push(Lane { counts, direction, bucket: Bucket::new(rate, depth, depth, now), is_credits: false });
    }

    /// Saves at least as much as a limit does, or an empty bucket would be slower than its baseline.
    fn credits(&mut self, counts: Counts, rate: f64, most: f64, start: f64, now: f64) {
        let least = rate * WINDOW_S;
        self.lanes.push(Lane {
            counts,
            direction: None,
            bucket: Bucket::new(rate, most.max(least), start.max(least), now),
            is_credits: true,
        });
    }

    /// When a request may begin that comes at `now`, and what is counted by the bucket that holds it back longest.
    pub fn begins_at(&self, direction: Direction, now: f64) -> (f64, Option<Counts>) {
        let bound = self.of(direction).map(|lane| (lane.bucket.begins_at(now), Some(lane.counts)));
        bound.fold((now, None), |longest, next| if next.0 > longest.0 { next } else { longest })
    }

    /// It begins.
    pub fn take(&mut self, direction: Direction, begin: f64, requests: f64, bytes: f64) {
        for lane in &mut self.lanes {
            if lane.direction.is_none_or(|of| of == direction) {
                let units = match lane.counts {
                    Counts::Requests => requests,
                    Counts::Bytes => bytes,
                };
                lane.bucket.take(begin, units);
            }
        }
    }

    fn of(&self, direction: Direction) -> impl Iterator<Item = &Lane> {
        self.lanes.iter().filter(move |lane| lane.direction.is_none_or(|of| of == direction))
    }

    /// Credits of requests that are left.
    pub fn request_credits(&self, now: f64) -> Option<f64> {
        self.credits_of(Counts::Requests, now)
    }

    /// Credits of bytes that are left.
    pub fn byte_credits(&self, now: f64) -> Option<f64> {
        self.credits_of(Counts::Bytes, now)
    }

    fn credits_of(&self, counts: Counts, now: f64) -> Option<f64> {
        let lane = self.lanes.iter().find(|lane| lane.is_credits && lane.counts == counts)?;
        Some(lane.bucket.level(now).max(0.0))
    }
}

//! One of several, by weight.

/// Weights, summed up.
#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    /// The sum of the weights up to each, over all.
    up_to: Vec<f64>,
}

impl Weighted {
    /// Of weights without a mistake.
    pub(crate) fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|up_to| *up_to /= sum);
        Self { up_to }
    }

    /// What cannot be.
    pub(crate) fn mistake(weights: impl Iterator<Item = f64>) -> Option<String> {
        let mut sum = 0.0;
        for weight in weights {
            if !weight.is_finite() || weight < 0.0 {
                return Some(format!("the weight {weight} is not 0 or more"));
            }
            sum += weight;
        }
        (sum <= 0.0).then(|| "nothing has a weight".to_owned())
    }

    /// The one for a uniform `u` in `[0, 1)`.
    #[inline]
    pub(crate) fn choose(&self, u: f64) -> usize {
        self.up_to.partition_point(|up_to| *up_to <= u).min(self.up_to.len() - 1)
    }
}

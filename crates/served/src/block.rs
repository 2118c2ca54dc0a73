//! Memory for direct I/O, which wants it aligned.

/// Alignment that every device takes.
pub(crate) const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of [`ALIGNMENT`].
#[derive(Debug)]
pub(crate) struct Block {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl Block {
    fn new(capacity: usize) -> Self {
        let storage = vec![0; capacity + ALIGNMENT];
        let start = storage.as_ptr().align_offset(ALIGNMENT);
        Self { storage, start, length: 0 }
    }

    fn capacity(&self) -> usize {
        self.storage.len() - ALIGNMENT
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// The same, ending after so many bytes.
    pub fn cut(mut self, length: usize) -> Self {
        self.length = self.length.min(length);
        self
    }

    /// Its bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}

/// Blocks that are used again: the kernel has nothing to hand out on the way of a request.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    free: Vec<(usize, Vec<Block>)>,
}

/// Of each size, so many are kept; what a burst needed beyond is given back.
const KEPT: usize = 128;

impl Blocks {
    /// A block of so many bytes, of any content.
    pub fn take(&mut self, length: usize) -> Block {
        let class = length.next_power_of_two().max(ALIGNMENT);
        let free = self.free.iter_mut().find(|(of, _)| *of == class);
        let mut block = free.and_then(|(_, list)| list.pop()).unwrap_or_else(|| Block::new(class));
        block.length = length;
        block
    }

    /// A block that nobody needs any more.
    pub fn give_back(&mut self, block: Block) {
        let class = block.capacity();
        match self.free.iter_mut().find(|(of, _)| *of == class) {
            Some((_, list)) if list.len() < KEPT => list.push(block),
            Some(_) => {}
            None => self.free.push((class, vec![block])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_used_again() {
        let mut blocks = Blocks::default();
        for length in [1, 512, 4096, 5000, 262_144] {
            let mut block = blocks.take(length);
            assert_eq!(block.bytes().len(), length);
            assert_eq!(block.bytes().as_ptr() as usize % ALIGNMENT, 0);
            block.bytes_mut()[0] = 7;
            let place = block.bytes().as_ptr();
            blocks.give_back(block);
            assert_eq!(blocks.take(length).bytes().as_ptr(), place);
        }
    }
}
